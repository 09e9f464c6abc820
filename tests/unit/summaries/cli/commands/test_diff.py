"""gradledger diff: the sentence, the tables, and the exit status."""

import json

import numpy as np
import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE, event, losses

import optim
from summaries import SummaryWriter, hparams, read_run, tensor
from summaries.cli import main


@pytest.fixture
def compared(tmp_path, monkeypatch, capsys):
    """Write two runs, compare them, and return the status and what is printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "140")

    def compare(a, b, *options):
        for name, data in (("a", a), ("b", b)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / NAME).write_bytes(data)
        return main(["diff", "a", "b", *options]), capsys.readouterr().out

    return compare


GRID = tensor("grid", np.zeros(3)), tensor("grid", np.ones(3))
SENTENCES = {
    "the same": (WHOLE, WHOLE, 0, "the same: 1 tag at all steps"),
    "curves": (WHOLE, losses([3.0, 2.5]), 1, "curves part at step 1, in loss (1 of 1 tag)"),
    "curves and others": (
        WHOLE + event(7, summary=GRID[0]),
        losses([9.0]) + event(7, summary=GRID[1]),
        1,
        "curves part at step 0, in loss (1 of 1 tag); other values part at step 7, in grid (1 of 1 tag)",
    ),
    "longer": (
        WHOLE,
        WHOLE + losses([1.0], first=3),
        1,
        "no value differs at a common step; only one has all steps of loss",
    ),
    "tags": (
        WHOLE + losses([1.0], "x"),
        WHOLE + losses([1.0], "y"),
        1,
        "no value differs at a common step; tags only in a: x; tags only in b: y",
    ),
    "hyperparameters": (
        event(summary=hparams({"lr": 0.1}, {})),
        event(summary=hparams({"lr": 0.2}, {})),
        1,
        "no value differs at a common step",
    ),
}


@pytest.mark.parametrize(("a", "b", "status", "sentence"), SENTENCES.values(), ids=SENTENCES)
def test_what_is_said_first(a, b, status, sentence, compared):
    found, printed = compared(a, b)
    lines = sentence.split("; ")
    assert (found, printed.splitlines()[: len(lines)]) == (status, lines)


def test_the_tables(compared):
    a = WHOLE + losses([1.0], "x") + event(summary=hparams({"lr": 0.1}, {}))
    b = losses([3.0, 2.5, 1.0, 0.5]) + event(summary=hparams({"depth": 3}, {}))
    assert compared(a, b)[1].splitlines()[1:] == [
        "tags only in a: x",
        "",
        "hyperparameter  a    b",
        "lr              0.1  -",
        "depth           -    3",
        "",
        "tag   from step  differ  only B  max diff.  at  mean diff.  max rel.  mean rel.  last in A  last in B",
        "loss          1  1 of 3       1        0.5   1     0.16667      20 %     6.67 %          1        0.5",
    ]


def test_all_tags(compared):
    same = WHOLE + losses([1.0], "same")
    other = losses([3.0, 2.0, 9.0]) + losses([1.0], "same")
    assert "same" not in compared(same, other)[1].split()
    assert "same" in compared(same, other, "--all")[1].split()


def test_quiet(compared):
    assert compared(WHOLE, losses([1.0]), "--quiet") == (1, "")
    assert compared(WHOLE, WHOLE, "--quiet") == (0, "")


def test_options_reach_the_comparison(compared):
    longer = losses([3.1, 2.0, 1.0, 0.5])
    assert compared(WHOLE, longer, "--common-steps", "--rtol", "0.05")[0] == 0
    assert compared(WHOLE, longer, "--common-steps", "--atol", "0.2")[0] == 0
    assert compared(WHOLE, longer, "--common-steps")[0] == 1
    assert compared(WHOLE, longer + losses([1.0], "x"), "--tags", "x")[0] == 1
    assert compared(WHOLE, longer, "--tags", "nothing") == (2, "")


def test_json(compared):
    status, printed = compared(WHOLE, ODD_RUNS["partly finite"], "--json")
    found = json.loads(printed)
    assert (status, found["different"], found["only"]) == (1, True, [[], []])
    run = found["runs"]["."]
    assert (run["different"], run["first_step"], run["tags"][0]["distance"]["max"]) == (True, 0, 2.0)


def test_directories(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for place, names in (("old", "xyz"), ("new", "yzw")):
        for name in names:
            (tmp_path / place / name).mkdir(parents=True)
            (tmp_path / place / name / NAME).write_bytes(WHOLE if name != "z" else losses([float(len(place))] * 2))
    (tmp_path / "new/z" / NAME).write_bytes(losses([3.0, 4.0]))
    assert main(["diff", "old", "new"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "runs only in old: x",
        "runs only in new: w",
        "z",
        "curves part at step 1, in loss (1 of 1 tag)",
    ]
    assert lines[-1] == "2 runs in both: 1 different, 1 the same"
    assert main(["diff", "old/x", "old"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "no run of the same name is in both"


def test_what_was_not_compared_is_said(compared):
    speeds = [losses([value], "train/global_step_per_sec") for value in (5.0, 6.0)]
    status, out = compared(WHOLE + speeds[0], WHOLE + speeds[1])
    assert status == 0
    assert out.splitlines() == [
        "the same: 1 tag at all steps",
        "not compared, since it measures the machine (--tags compares it): train/global_step_per_sec",
    ]


def test_a_training_that_was_repeated_is_reproduced(tmp_path):
    """As the page promises: of two runs that our own monitor has logged, bit for bit the same."""
    for name in ("a", "b"):
        w = optim.Variable(np.ones(3, np.float32), name="w")
        with SummaryWriter(tmp_path / name) as writer:
            optimizer = optim.with_summaries(optim.AdamOptimizer(0.1), writer)
            for _ in range(20):
                optimizer.minimize(lambda w=w: np.sum(w**2))
    assert "train/global_step_per_sec" in read_run(tmp_path / "a").scalars
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--quiet"]) == 0
