"""The runs at several places: by path, by pattern, each read when it is asked for."""

import os

import pytest

from summaries import SummaryWriter
from summaries.tools.runs import read_ahead, runs_at


@pytest.fixture
def logdir(tmp_path):
    for name in ("a", "a/b", "c"):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("x", len(name), 0)
    return tmp_path


def test_every_run_at_and_below(logdir):
    runs = runs_at([logdir / "a", str(logdir / "c")])
    paths = [os.path.join(logdir, *name.split("/")) for name in ("a", "a/b", "c")]
    assert (list(runs), len(runs)) == (paths, 3)
    assert [run.scalars["x"].value[0] for run in runs.values()] == [1, 3, 1]
    with read_ahead(runs):
        assert list(runs.among(paths[:0:-1])) == paths[:0:-1]


def test_patterns_are_of_names_below_the_place(logdir):
    assert list(runs_at([logdir], "a*")) == [os.path.join(logdir, "a"), os.path.join(logdir, "a/b")]
    assert list(runs_at([logdir], ["c", "*b"])) == [os.path.join(logdir, "a/b"), os.path.join(logdir, "c")]
    assert list(runs_at([logdir / "a", logdir / "c"], ".")) == [str(logdir / "a"), str(logdir / "c")]


def test_no_run_is_meant(logdir):
    with pytest.raises(LookupError) as caught:
        runs_at([logdir], "x")
    assert str(caught.value) == "no run has a name that matches; there are a, a/b and c"


def test_a_run_is_given_twice(logdir):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        runs_at([logdir, logdir / "a"])
    assert str(caught.value) == f"each run must be given once, got {logdir / 'a'} twice"


def test_an_address_is_named_without_credentials():
    with pytest.raises(FileNotFoundError):
        runs_at(["memory://user:secret@nowhere"])
