"""The protocols suffice: all that reads does so from a storage that has no disk."""

import pickle
import threading

import numpy as np
import pytest
from engines import ENGINES, read_logdir, read_run
from stores.memory import MemoryStorage

from summaries import GraphDef, SummaryWriter, UndecodableError, audit, read_events
from summaries.auditing.config import Config
from summaries.auditing.watch import watch
from summaries.cli import main
from summaries.storage import protocols, remote
from summaries.storage.local import LOCAL
from summaries.storage.protocols import StoredFile, chunks
from summaries.tools import verify
from summaries.tools.runs import runs_below
from summaries.wire.pb import NodeDef


def written(directory, value):
    """An event file's bytes: scalars, a histogram, a text and a graph."""
    with SummaryWriter(directory) as writer:
        for step in range(200):
            writer.add_scalar("train/loss", value + 1 / (1 + step), step, walltime=1e9 + step)
        writer.add_histogram("weights", np.arange(100.0), 7)
        writer.add_text("note", "hello", 8)
        writer.add_graph(GraphDef(node=[NodeDef(name="x", op="Placeholder")]))
    with open(writer.path, "rb") as file:
        return file.read()


@pytest.fixture
def storage(tmp_path, monkeypatch):
    """Two runs, one of two files."""
    files = {
        f"memory://logs/{name}": written(tmp_path / name, i)
        for i, name in enumerate(["a/1.tfevents", "a/2.tfevents", "b/c/1.tfevents"])
    }
    storage = MemoryStorage({**files, "memory://logs/notes.txt": b"none of ours"})
    monkeypatch.setattr(remote, "storage_of", lambda *_: storage)
    return storage


@pytest.mark.parametrize("engine", ENGINES)
def test_a_log_directory(storage, engine):
    runs = read_logdir("memory://logs", engine=engine)
    assert storage.requests.count("list") == 1
    assert {name: run.files for name, run in runs.items()} == {
        "a": ("memory://logs/a/1.tfevents", "memory://logs/a/2.tfevents"),
        "b/c": ("memory://logs/b/c/1.tfevents",),
    }
    run = runs["a"]
    assert run.faults == ()
    assert run.scalars["train/loss"].value[[0, 199, 200]].tolist() == pytest.approx([1.0, 1 / 200, 2.0])
    assert run.texts["note/text_summary"].value == ["hello", "hello"]
    assert run.histograms["weights"][0][:, 2].sum() == 100
    assert run.graph is not None
    assert [node.name for node in run.graph.node] == ["x"]


@pytest.mark.parametrize("path", ["memory://logs/b/c", "memory://logs/b/c/1.tfevents"])
def test_one_run(storage, path):
    assert read_run(path).files == ("memory://logs/b/c/1.tfevents",)
    assert storage.requests.count("list") == 1


def test_an_item_asks_for_its_own_bytes(storage):
    texts = read_run("memory://logs/b/c").texts["note/text_summary"]
    storage.requests.clear()
    assert texts[0] == "hello"
    ((_, size),) = storage.requests
    assert size < 100


def test_an_item_of_an_object_that_was_replaced(storage):
    texts = read_run("memory://logs/b/c").texts["note/text_summary"]
    storage.put("memory://logs/b/c/1.tfevents", b"something else")
    with pytest.raises(UndecodableError, match=r"at memory://logs/b/c/1\.tfevents"):
        texts[0]


def test_events(storage):
    path = "memory://logs/b/c/1.tfevents"
    assert len(list(read_events(path))) == 204
    assert verify(path).events == 204
    assert "list" not in storage.requests


def test_following(storage):
    """One listing a poll; what changed is told by its identity."""
    path, stop, steps = "memory://logs/b/c/1.tfevents", threading.Event(), []
    whole = storage.files[path][0]
    storage.put(path, whole[:1000])
    for event in read_events("memory://logs/b/c", follow=True, stop=stop, timeout_secs=300):
        steps.append(event.step)
        if event.step == 10:
            storage.put(path, whole)
        if event.graph_def:
            stop.set()
    assert steps[:201] == [0, *range(200)]
    lists = [i for i, request in enumerate(storage.requests) if request == "list"]
    assert lists[0] == 0
    assert all(type(request) is tuple for request in storage.requests[lists[-1] + 1 :])


def test_an_audit_and_a_watch(storage):
    (flat, other) = audit("memory://logs").runs
    assert storage.requests.count("list") == 1
    assert [flat.name, other.name, flat.points, other.points] == ["a", "b/c", 400, 200]
    assert flat.files == ("memory://logs/a/1.tfevents", "memory://logs/a/2.tfevents")
    del storage.files["memory://logs/b/c/1.tfevents"]
    new = next(watch("memory://logs", Config()))
    assert {found.run for found in new} == {"a"}


def test_the_command_line(storage, tmp_path, capsys):
    assert main(["verify", "memory://logs"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "memory://logs/a/1.tfevents: 204 events, 0 faults",
        "memory://logs/a/2.tfevents: 204 events, 0 faults",
        "memory://logs/b/c/1.tfevents: 204 events, 0 faults",
        "3 files, none of them damaged",
    ]
    storage.requests.clear()
    assert main(["export", "memory://logs", str(tmp_path / "x.csv")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'x.csv'}: 600 points of 2 runs\n"
    assert storage.requests.count("list") == 1


def test_runs_are_read_when_they_are_asked_for(storage):
    runs = runs_below("memory://logs")
    assert (len(runs), list(runs), storage.requests) == (2, ["a", "b/c"], ["list"])
    assert runs["b/c"].files == ("memory://logs/b/c/1.tfevents",)
    with pytest.raises(KeyError):
        runs["nowhere"]


@pytest.mark.parametrize("start", [0, 1, 5, 6, 100])
def test_chunks(monkeypatch, start):
    monkeypatch.setattr(protocols, "_CHUNK_BYTES", 2)
    storage = MemoryStorage({"memory://x": b"bytes!"})
    found = list(chunks(storage.open("memory://x"), start))
    assert b"".join(found) == b"bytes!"[start:]
    assert all(0 < len(chunk) <= 2 for chunk in found)


def test_chunks_ask_once_for_what_fits_into_one():
    storage = MemoryStorage({"memory://x": b"bytes!"})
    assert list(chunks(storage.open("memory://x"))) == [b"bytes!"]
    assert len(storage.requests) == 1


def test_a_stored_file_travels_between_processes(tmp_path):
    (tmp_path / "x.tfevents").write_bytes(b"bytes")
    (file,) = LOCAL.discover(str(tmp_path))
    copy = pickle.loads(pickle.dumps(file))  # noqa: S301 - our own
    assert copy == file
    with copy.open() as opened:
        assert opened.read_range(0, 9) == b"bytes"


def test_a_stored_file_equals_the_same_version(tmp_path):
    file = StoredFile("x", 3, 1, LOCAL)
    assert file == StoredFile("x", 3, 1, MemoryStorage())
    assert file != StoredFile("x", 3, 2, LOCAL)
    assert repr(file) == "StoredFile(path='x', size=3, identity=1)"
