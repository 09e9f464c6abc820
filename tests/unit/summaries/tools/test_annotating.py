"""Annotating: labels that compare reads, and notes that readers show; the run's own files are not touched."""

import os

import pytest

from summaries import SummaryWriter, compare, read_run
from summaries.reading.annotations import label_of
from summaries.tools import label, note


@pytest.fixture
def runs(tmp_path):
    for name in ("a", "b", "c"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(30):
                writer.add_scalar("loss", 1.0 / (1 + step) + (name == "c"), step)
    return tmp_path


def texts(run, tag):
    items = read_run(run).texts[f"gradledger/{tag}/text_summary"].latest()
    return list(zip(items.step.tolist(), items, strict=True))


def test_a_label_is_read_by_compare(runs):
    own = {path: path.read_bytes() for path in runs.rglob("*tfevents*")}
    paths = [label(runs / name, said) for name, said in (("a", "good"), ("b", "good"), ("c", "bad"))]
    assert [label_of(read_run(runs / name)) for name in "abc"] == ["good", "good", "bad"]
    assert {path: path.read_bytes() for path in own} == own
    assert all(os.path.isfile(path) for path in paths)
    compared = compare(runs)
    assert [member.label for member in compared.members] == ["good", "good", "bad"]
    assert compared.taught is not None


def test_labels_all_alike_teach_nothing(runs):
    label(runs / "a", "good")
    assert compare(runs).taught is None


def test_the_last_label_counts(runs):
    for said in ("good", "bad"):
        label(runs / "a", said)
    assert label_of(read_run(runs / "a")) == "bad"
    label(runs / "a", "none")
    assert label_of(read_run(runs / "a")) == ""


def test_notes_in_any_order_are_all_there(runs):
    for step, words in ((20, "c"), (5, "a"), (10, "b"), (5, "*again*")):
        note(runs / "a", step, words)
    assert texts(runs / "a", "note") == [(5, "a\n\n*again*"), (10, "b"), (20, "c")]


def test_addresses():
    with SummaryWriter("memory://annotated/run") as writer:
        writer.add_scalar("loss", 1.0, 0)
    label("memory://annotated/run", "bad")
    note("memory://annotated/run", 3, "words")
    assert label_of(read_run("memory://annotated/run")) == "bad"
    assert texts("memory://annotated/run", "note") == [(3, "words")]


def test_mistakes(runs):
    with pytest.raises(ValueError, match="label") as caught:
        label(runs / "a", "excellent")
    assert str(caught.value) == "a label must be good, bad or none, got 'excellent'"
    with pytest.raises(FileNotFoundError):
        label(runs / "nowhere", "good")
    (path,) = (runs / "a").iterdir()
    with pytest.raises(NotADirectoryError) as caught:
        label(path, "good")
    assert str(caught.value) == f"a run must be a directory, to which an event file is added, got the file {path}"
    with pytest.raises(ValueError, match="step") as caught:
        note(runs / "a", -1, "words")
    assert str(caught.value) == "step must be at least 0 and below 2**63, got -1"
    with pytest.raises(ValueError, match="words") as caught:
        note(runs / "a", 1, " ")
    assert str(caught.value) == "a note must have words, got none"
    assert len(list((runs / "a").iterdir())) == 1
