"""Renaming: by patterns, by regular expressions, and never two to one."""

import os

import pytest

from summaries import SummaryWriter, read_logdir, read_run
from summaries.tools import rename


@pytest.fixture
def runs(tmp_path):
    for name in ("a_1", "a_2"):
        with SummaryWriter(tmp_path / "runs" / name) as writer:
            for tag in ("loss", "loss_val", "grad/w"):
                writer.add_scalar(tag, 1.0, 0, new_style=True)
            writer.add_histogram("grad/w/histogram", [1.0, 2.0], 0)
    return tmp_path / "runs"


RULES = [
    ({"loss*": "train/loss*"}, False, ("train/loss", "train/loss_val", "grad/w", "grad/w/histogram")),
    ({"loss": "x"}, False, ("x", "loss_val", "grad/w", "grad/w/histogram")),
    ({"*_*": "*/of/*"}, False, ("loss", "loss/of/val", "grad/w", "grad/w/histogram")),
    ({"grad/[vw]": "gradient_*"}, False, ("loss", "loss_val", "gradient_w", "grad/w/histogram")),
    ([("loss", "a"), ("loss*", "b*"), ("*", "c/*")], False, ("a", "b_val", "c/grad/w", "c/grad/w/histogram")),
    ({"loss": "loss_val", "loss_val": "loss"}, False, ("loss_val", "loss", "grad/w", "grad/w/histogram")),
    ({"grad": "g"}, True, ("loss", "loss_val", "g/w", "g/w/histogram")),
    ({r"^(\w+)/(\w+)": r"\2/\1"}, True, ("loss", "loss_val", "w/grad", "w/grad/histogram")),
]


@pytest.mark.parametrize(("tags", "regex", "names"), RULES)
def test_tags(runs, tmp_path, tags, regex, names):
    rename(runs / "a_1", tmp_path / "out", tags=tags, regex=regex)
    before, after = read_run(runs / "a_1"), read_run(tmp_path / "out")
    assert after.tags == names
    assert [after.metadata.get(new) for new in names] == [before.metadata.get(old) for old in before.tags]
    assert after.histograms[names[-1]][0].tolist() == before.histograms["grad/w/histogram"][0].tolist()


def test_runs(runs, tmp_path):
    assert rename(runs, tmp_path / "out", runs={"*_*": "*/v*"}).runs == ("a/v1", "a/v2")
    assert set(read_logdir(tmp_path / "out")) == {"a/v1", "a/v2"}


MISTAKES = [
    ({"tags": {"loss*": "loss"}}, ValueError,
     "each tag must have a name of its own: 'loss' and 'loss_val' would both be 'loss'"),
    ({"tags": {"loss": "grad/w"}}, ValueError,
     "each tag must have a name of its own: 'loss' and 'grad/w' would both be 'grad/w'"),
    ({"runs": {"a_*": "a"}}, ValueError, "each run must have a name of its own: 'a_1' and 'a_2' would both be 'a'"),
    ({"runs": {"a_1": "../a"}}, ValueError, "a run's name must be a path below the output, got '../a'"),
    ({"tags": {"loss": "*"}}, ValueError,
     "a new name must have no more wildcards than the old one, got '*' for 'loss'"),
    ({"tags": {"loss": ""}}, ValueError, "a tag must have a name, got '' for 'loss'"),
    ({"tags": {"(": "x"}, "regex": True}, ValueError,
     "an old name must be a regular expression, got '(': missing ), unterminated subpattern at position 0"),
    ({"tags": {"loss": r"\1"}, "regex": True}, ValueError,
     r"a new name must refer to groups of 'loss', got '\\1': invalid group reference 1 at position 1"),
    ({"tags": {"lss": "x"}}, LookupError, "no tag matches 'lss'; there are loss, loss_val and 2 others"),
    ({"runs": {"b": "x"}}, LookupError, "no run matches 'b'; there are a_1 and a_2"),
    ({}, ValueError, "there must be at least one old name and a new one, got none"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "error", "message"), MISTAKES)
def test_mistakes(runs, tmp_path, arguments, error, message):
    with pytest.raises(error) as caught:
        rename(runs, tmp_path / "out", **arguments)
    assert caught.value.args == (message,)
    assert os.listdir(tmp_path) == ["runs"]
