"""Event files in an object store: written to fsspec's memory file system, with its traffic counted."""

import itertools
import json
import os
import pickle
import threading

import fsspec
import numpy as np
import pytest
from helpers import Record, one_by_one

from summaries import (
    SummaryWriter,
    audit,
    clip_advice,
    read_events,
    read_graph,
    read_run,
    summary_iterator,
    verify,
    write_graph,
)
from summaries.storage.remote import is_vacant
from summaries.wire.pb import Event, GraphDef, NodeDef
from summaries.wire.records import RecordParser
from summaries.writing.process_hooks import close_at_last


@pytest.fixture
def store(monkeypatch):
    """The memory file system, emptied, with a list of the paths and sizes of the objects that were put there."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    put = type(system).pipe_file
    system.traffic = []

    def counting(self, path, value, mode="overwrite", **options):
        system.traffic.append((path, len(value)))
        return put(self, path, value, mode=mode, **options)

    monkeypatch.setattr(type(system), "pipe_file", counting)
    yield system
    system.store.clear()


def events(data):
    parser = RecordParser()
    parser.feed(data)
    parser.close()
    items = one_by_one(parser.items())
    assert all(isinstance(item, Record) for item in items)
    return [Event.FromString(item.data) for item in items]


def points(store, run):
    """(step, value) of every scalar, the objects read in lexicographic order, as TensorBoard does."""
    everything = [event for path in sorted(store.ls(run, detail=False)) for event in events(store.cat_file(path))]
    return [(event.step, value.simple_value) for event in everything for value in event.summary.value]


def test_every_object_is_an_event_file_and_traffic_is_what_was_logged(store):
    flushes, each = 20, 500
    with SummaryWriter("memory://runs/traffic", flush_secs=1000) as writer:
        for step in range(flushes * each):
            writer.add_scalar("loss", step, step)
            if step % each == each - 1:
                writer.flush()
    assert points(store, "/runs/traffic") == [(step, step) for step in range(flushes * each)]
    for path in store.ls("/runs/traffic", detail=False):
        assert events(store.cat_file(path))[0].file_version == "brain.Event:2"
    logged = flushes * each * 45
    sizes = [
        size for path, size in store.traffic if "runs/traffic/" in path
    ]  # others are of writers that tests have left
    assert sum(sizes) < 1.1 * logged
    assert len(sizes) == flushes + 1


def test_an_error_names_the_object_and_the_next_flush_writes_it(store, monkeypatch):
    writer = SummaryWriter("memory://runs/b", flush_secs=1000)
    writer.add_scalar("loss", 1.0, 1)
    with monkeypatch.context() as broken:

        def failing(self, path, value, **options):
            raise PermissionError("no such key")

        broken.setattr(type(store), "pipe_file", failing)
        with pytest.raises(OSError, match=r"could not be written: no such key.*runs/b/events\.out\.tfevents.*\.000001"):
            writer.flush()
    writer.add_scalar("loss", 2.0, 2)
    writer.close()
    assert points(store, "/runs/b") == [(1, 1.0), (2, 2.0)]


def test_runs_below_and_files_beside(store):
    with SummaryWriter("memory://runs/c", filename_suffix=".end") as writer:
        writer.add_scalars("curves", {"a": 1.0, "b": 2.0}, 3)
        writer.add_embedding(np.eye(2), ["x", "y"], tag="points")
    assert points(store, "/runs/c/curves_a") == [(3, 1.0)]
    assert points(store, "/runs/c/curves_b") == [(3, 2.0)]
    assert store.cat_file("/runs/c/00000/points/tensors.tsv") == b"1.0\t0.0\n0.0\t1.0\n"
    assert b'tensor_path: "00000/points/tensors.tsv"' in store.cat_file("/runs/c/projector_config.pbtxt")
    assert all(path.endswith(".end") for path in store.ls("/runs/c", detail=False) if "tfevents" in path)


def test_graphs(store):
    graph = GraphDef(node=[NodeDef(name="x", op="Placeholder")])
    path = write_graph(graph, "memory://runs/d", "graph.pbtxt")
    assert read_graph(path) == graph
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_graph("memory://runs/d/nowhere.pb")


@pytest.fixture
def hanging(store, monkeypatch, tmp_path):
    """Let the store accept requests and not answer while this is set; what waits for it gives up soon."""
    answers = threading.Event()
    put = type(store).pipe_file

    def slow(self, path, value, mode="overwrite", **options):
        if hangs.is_set():
            answers.wait()
        return put(self, path, value, mode=mode, **options)

    hangs = threading.Event()
    monkeypatch.setattr(type(store), "pipe_file", slow)
    monkeypatch.setenv("GRADLEDGER_STORE_SECS", "0.05")
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path / "cache"))
    yield hangs
    answers.set()


def test_a_store_that_never_answers(store, hanging):
    """flush() and close() raise in time, and what waits is kept for a store that answers again."""
    writer = SummaryWriter("memory://runs/slow", flush_secs=1000)
    writer.add_scalar("loss", 1.0, 1)
    hanging.set()
    for call in (writer.flush, writer.flush, writer.close):
        with pytest.raises(OSError, match=r"could not be written: the store did not answer within 0 s"):
            call()
    hanging.clear()
    writer.close()
    assert points(store, "/runs/slow") == [(1, 1.0)]


def test_what_was_not_sent_at_the_end_is_sent_by_the_next_writer(store, hanging, tmp_path):
    writer = SummaryWriter("memory://runs/late", flush_secs=1000)
    writer.add_scalar("loss", 1.0, 1)
    hanging.set()
    with pytest.warns(
        UserWarning, match=r"up to 1 events of .* were not sent, and are in .*: the run's next writer sends"
    ):
        close_at_last(writer._run_file)
    (kept,) = (tmp_path / "cache" / "unsent").rglob("*tfevents*")
    assert read_run(kept).scalars["loss"].step.tolist() == [1]
    hanging.clear()
    with SummaryWriter("memory://runs/other"):
        pass
    assert kept.exists()
    with SummaryWriter("memory://runs/late") as after:
        after.add_scalar("loss", 2.0, 2)
    assert points(store, "/runs/late") == [(1, 1.0), (2, 2.0)]
    assert not kept.exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="only POSIX tells who may write to a directory")
@pytest.mark.filterwarnings("ignore:up to 1 events")
def test_what_others_may_have_put_among_the_unsent_is_not_sent(store, hanging, tmp_path):
    writer = SummaryWriter("memory://runs/others", flush_secs=1000)
    writer.add_scalar("loss", 1.0, 1)
    hanging.set()
    close_at_last(writer._run_file)
    hanging.clear()
    (kept,) = (tmp_path / "cache" / "unsent").rglob("*tfevents*")
    kept.parent.chmod(0o777)
    with SummaryWriter("memory://runs/others"):
        pass
    assert points(store, "/runs/others") == []
    assert kept.exists()


def test_writers_that_share_host_process_and_second(store, monkeypatch):
    monkeypatch.setattr("summaries.storage.names.counter", itertools.repeat(0))
    monkeypatch.setattr("summaries.storage.names._random_of", lambda _: os.urandom(6).hex())
    writers = [SummaryWriter("memory://runs/same", flush_secs=1000) for _ in range(3)]
    for step, writer in enumerate(writers):
        writer.add_scalar("loss", 1.0, step)
        writer.close()
    assert sorted(points(store, "/runs/same")) == [(0, 1.0), (1, 1.0), (2, 1.0)]


def test_an_object_of_another_writer_is_not_replaced(store):
    writer = SummaryWriter("memory://runs/taken", flush_secs=1000)
    taken = writer.paths[0][: -len("000000")] + "000001"
    store.pipe_file(taken.removeprefix("memory:/"), b"theirs")
    writer.add_scalar("loss", 1.0, 1)
    with pytest.raises(FileExistsError):
        writer.flush()
    assert store.cat_file(taken.removeprefix("memory:/")) == b"theirs"
    store.rm_file(taken.removeprefix("memory:/"))
    writer.close()
    assert (1, 1.0) in points(store, "/runs/taken")


def test_an_attempt_that_seemed_to_fail_is_not_taken_for_another_writer_s(store, monkeypatch):
    writer = SummaryWriter("memory://runs/twice", flush_secs=1000)
    put = type(store).pipe_file

    def failing(self, path, value, **options):
        put(self, path, value, **options)
        raise TimeoutError("no answer")

    writer.add_scalar("loss", 1.0, 1)
    with monkeypatch.context() as broken:
        broken.setattr(type(store), "pipe_file", failing)
        with pytest.raises(OSError, match="no answer"):
            writer.flush()
    writer.close()
    assert points(store, "/runs/twice") == [(1, 1.0)]


INSIDE = {"path": "/base", "target_protocol": "memory"}
"""Options with which `dir://` is a directory of the memory file system, and without which it is nothing."""


def test_a_writer_with_options(store):
    with SummaryWriter("dir://runs/e", storage_options=INSIDE) as writer:
        writer.add_scalar("loss", 1.0, 3)
        writer.add_scalars("both", {"x": 2.0}, 4)
        writer.add_embedding(np.eye(2), tag="one")
        writer.add_embedding(np.eye(2), tag="two")
    assert points(store, "/base/runs/e/both_x") == [(4, 2.0)]
    assert store.cat_file("/base/runs/e/projector_config.pbtxt").count(b"tensor_path") == 2
    assert writer.path.startswith("dir://runs/e/events.out.tfevents.")
    assert writer.paths == sorted(f"dir://{path.removeprefix('/base/')}" for path in store.glob("/base/runs/e/*tfev*"))
    writer.export_scalars_to_json("dir://runs/e/all.json")
    ((directory, ((_, step, value),)),) = json.loads(store.cat_file("/base/runs/e/all.json")).items()
    assert (directory, step, value) == ("dir://runs/e/both_x", 4, 2.0)
    again = pickle.loads(pickle.dumps(writer))  # noqa: S301 - our own
    again.add_scalar("loss", 2.0, 4)
    again.close()
    run = read_run("dir://runs/e", storage_options=INSIDE)
    assert run.scalars["loss"].value.tolist() == [1.0, 2.0]


def test_a_graph_with_options():
    graph = GraphDef(node=[NodeDef(name="x", op="Placeholder")])
    path = write_graph(graph, "dir://runs/f", "graph.pb", as_text=False, storage_options=INSIDE)
    assert path == "dir://runs/f/graph.pb"
    assert read_graph("memory://base/runs/f/graph.pb") == read_graph(path, storage_options=INSIDE) == graph


def test_credentials_are_in_no_error(store, monkeypatch):
    def failing(self, path, value, **options):
        raise PermissionError("AKIDEXAMPLE is not ours")

    monkeypatch.setattr(type(store), "pipe_file", failing)
    options = {"path": "/base", "target_protocol": "memory", "target_options": {"key": "AKIDEXAMPLE"}}
    for write in (lambda: SummaryWriter("dir://g", storage_options=options),
                  lambda: write_graph(b"", "dir://g", "graph", storage_options=options)):  # fmt: skip
        with pytest.raises(OSError, match="could not be written") as raised:
            write()
        assert raised.value.strerror == "could not be written: *** is not ours"
        assert raised.value.__suppress_context__


def test_a_directory_of_a_local_address_is_made(tmp_path):
    with SummaryWriter((tmp_path / "new" / "run").as_uri()) as writer:
        writer.add_scalar("loss", 1.0, 3)
    assert read_run(tmp_path / "new" / "run").scalars["loss"].step.tolist() == [3]


@pytest.mark.parametrize("cached", [False, True])
def test_the_path_of_a_writer_stands_for_all_its_objects(store, tmp_path, cached):
    access = {"cache": str(tmp_path)} if cached else {}
    with SummaryWriter("memory://runs/parts", filename_suffix=".end") as writer:
        for step in range(3):
            writer.add_scalar("gradients/global_norm", step + 1.0, step)
            writer.flush()
    with SummaryWriter("memory://runs/parts") as other:
        other.add_scalar("gradients/global_norm", 9.0, 9)
    assert len(writer.paths) == 4
    run = read_run(writer.path, **access)
    assert (list(run.files), run.scalars["gradients/global_norm"].step.tolist()) == (writer.paths, [0, 1, 2])
    assert verify(writer.path, **access).events == 4 + 3
    assert verify(writer.paths[1], **access).events == 2
    assert [event.step for event in summary_iterator(writer.path) if event.HasField("summary")] == [0, 1, 2]
    followed = read_events(writer.path, follow=True, timeout_secs=0)
    assert [event.step for event in followed if event.HasField("summary")] == [0, 1, 2]
    assert clip_advice(writer.path, **access).steps == 3
    assert audit(writer.path, **access).runs[0].points == 3
    with pytest.raises(FileNotFoundError, match=r"no such file or directory: memory://runs/parts/1\.tfevents"):
        verify("memory://runs/parts/1.tfevents", **access)


def test_the_objects_of_a_writer_are_one_file_for_the_audit(store):
    """Each flush is no restart, and no file without events; another writer is one."""

    def log(first):
        with SummaryWriter("memory://runs/one") as writer:
            for step in range(first, first + 40):
                writer.add_scalar("train/loss", 1.0 / (1 + step), step, walltime=1.7e9 + step)
                if step % 10 == 9:
                    writer.flush()

    log(0)
    assert audit("memory://runs/one").findings == ()
    log(40)
    (finding,) = audit("memory://runs/one").findings
    message = "restarted at step 40; no points of train/loss were superseded"
    assert (finding.code, finding.message) == ("GL206", message)
    SummaryWriter("memory://runs/one").close()
    codes = [finding.code for finding in audit("memory://runs/one").findings]
    assert codes == ["GL107", "GL206"]


def test_what_is_vacant(store):
    store.pipe_file("/vacant/full/file", b"x")
    store.makedirs("/vacant/empty")
    names = ("missing", "empty", "full", "full/file", "fu")
    assert [is_vacant(f"memory://vacant/{name}", {}) for name in names] == [True, True, False, False, True]
