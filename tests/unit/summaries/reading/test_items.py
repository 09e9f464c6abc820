"""Values that are not scalars: by kind and tag, at a step, and as short reprs."""

import numpy as np
import pytest

from summaries import SummaryWriter, read_run


@pytest.fixture
def run(logdir):
    with SummaryWriter(logdir) as writer:
        for step in (0, 10, 20, 10):
            writer.add_text("notes", f"step {step}", step)
            writer.add_scalar("loss", step / 10, step)
        writer.add_text("notes", "again", 10)
        writer.add_scalar("loss", 7.0, 10)
        writer.add_histogram("weights", np.arange(4.0), 5)
    return read_run(logdir)


def test_at_a_step_the_last_one_counts(run):
    assert run.texts["notes/text_summary"].at(10) == "again"
    assert run.scalars["loss"].at(10) == 7.0
    assert run.scalars["loss"].at(20) == 2.0
    assert run.histograms["weights"].at(5).shape[1] == 3


@pytest.mark.parametrize(
    ("step", "near"),
    [
        (15, "the nearest steps are 10 and 20"),
        (-1, "the nearest step is 0"),
        (99, "the nearest step is 20"),
    ],
)
def test_no_such_step(run, step, near):
    for values, tag in ((run.texts["notes/text_summary"], "notes/text_summary"), (run.scalars["loss"], "loss")):
        with pytest.raises(LookupError) as raised:
            values.at(step)
        assert str(raised.value) == f"{tag!r} has nothing at step {step}; {near}"


def test_a_step_is_a_number(run):
    for values in (run.texts["notes/text_summary"], run.scalars["loss"]):
        for step in ("10", None, [0, 10]):
            with pytest.raises(TypeError) as raised:
                values.at(step)
            assert str(raised.value) == f"a step is one integer, got {step!r}"
        assert values.at(np.int64(20)) == values.at(20.0) == values.at(20)


def test_slices_and_indices(run):
    texts = run.texts["notes/text_summary"]
    assert texts[1:3] == ["step 10", "step 20"]
    assert texts[:-3:-1] == ["again", "step 10"]
    assert texts[9:] == []
    assert texts[-1] == texts[np.int64(4)] == "again"
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        texts["notes"]


def test_reprs_are_short(run):
    assert repr(run.texts["notes/text_summary"]) == "Items('notes/text_summary', 5 values, steps 0 to 20)"
    assert repr(run.texts) == "ByName(1 tag: 'notes/text_summary')"
    assert repr(run) == "Run(1 file, 3 tags, 5 scalars, 0 faults)"


def test_a_run_without_them(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("loss", 1.0, 0)
    run = read_run(logdir)
    assert not any((run.texts, run.images, run.audio, run.histograms, run.tensors, run.meshes, run.pr_curves))
