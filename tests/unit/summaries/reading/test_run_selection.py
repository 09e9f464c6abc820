"""Only some tags, of every kind, and only some runs, whose files alone are opened."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from engines import ENGINES, read_logdir, read_run
from stores.memory import MemoryStorage

from summaries import Event, GraphDef, SummaryWriter
from summaries.wire.pb import NodeDef
from summaries.wire.records import frame


@pytest.fixture
def run(tmp_path):
    """Two tags of each kind, a/… and b/…, a graph and hyperparameters."""
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_graph(GraphDef(node=[NodeDef(name="x", op="NoOp")]))
        for prefix in "ab":
            for step in range(3):
                writer.add_scalar(f"{prefix}/loss", step, step)
                writer.add_histogram(f"{prefix}/weights", np.arange(9.0), step)
                writer.add_image(f"{prefix}/image", np.zeros((3, 2, 2), np.uint8), step)
                writer.add_text(f"{prefix}/note", prefix, step)
                writer.add_tensor(f"{prefix}/tensor", np.arange(3), step)
    return tmp_path / "run"


KINDS = ("scalars", "histograms", "images", "texts", "tensors")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_kind(run, engine):
    chosen, whole = read_run(run, tags="b/*", engine=engine), read_run(run, engine=engine)
    assert chosen.tags == tuple(tag for tag in whole.tags if tag.startswith("b/"))
    assert chosen.metadata == {tag: own for tag, own in whole.metadata.items() if tag.startswith("b/")}
    for kind in KINDS:
        mine, all_of_it = getattr(chosen, kind), getattr(whole, kind)
        assert list(mine) == [tag for tag in all_of_it if tag.startswith("b/")]
        for tag, items in mine.items():
            assert repr(list(items.value)) == repr(list(all_of_it[tag].value))
    assert chosen.graph == whole.graph
    assert (chosen.records, chosen.versions) == (whole.records, whole.versions)


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("a/loss", ["a/loss"]),
        (["*/loss"], ["a/loss", "b/loss"]),
        (iter(["x", "a/lo*"]), ["a/loss"]),
        ("loss", []),
        ((), []),
        (None, ["a/loss", "b/loss"]),
    ],
)
def test_patterns(run, tags, found):
    assert list(read_run(run, tags=tags).scalars) == found


def test_damage_is_told_whatever_is_wanted(run):
    (path,) = run.iterdir()
    path.write_bytes(path.read_bytes() + bytes(50) + frame(Event(step=-1).SerializeToString()))
    whole = read_run(run)
    assert len(whole.faults) == 2
    assert read_run(run, tags=()).faults == whole.faults


@pytest.fixture
def storage(monkeypatch):
    """Runs a and b/c, in a storage without a disk."""
    record = frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())
    storage = MemoryStorage({f"memory://logs/{name}/x.tfevents": record for name in ("a", "b/c")})
    monkeypatch.setattr("summaries.storage.logdir.place_of", lambda path, **_: (storage, str(path)))
    return storage


def test_only_the_files_of_chosen_runs_are_opened(storage, monkeypatch):
    opened = []
    monkeypatch.setattr(storage, "open", lambda file, *_: opened.append(file.path) or MemoryStorage.open(storage, file))
    assert list(read_logdir("memory://logs", runs="b*")) == ["b/c"]
    assert opened == ["memory://logs/b/c/x.tfevents"]
    assert list(read_logdir("memory://logs", runs=["?", "b/c"])) == ["a", "b/c"]
    assert read_logdir("memory://logs", runs="nix") == {}


def test_an_executor_gets_patterns_that_can_be_used_again(run):
    with SummaryWriter(run.parent / "other") as writer:
        writer.add_scalar("a/loss", 1.0, 0)
        writer.add_scalar("c", 1.0, 0)
    with ThreadPoolExecutor(2) as executor:
        runs = read_logdir(run.parent, tags=iter(["a/l*"]), executor=executor)
    assert {name: list(found.scalars) for name, found in runs.items()} == {"other": ["a/loss"], "run": ["a/loss"]}
