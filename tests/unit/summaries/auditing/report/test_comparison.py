"""A comparison as text and JSON: what is said, and that a reader of JSON gets it all."""

import io
import json

import pytest
from labelled import populations

from summaries import SummaryWriter, compare
from summaries.auditing.report.comparison import json as as_json
from summaries.auditing.report.comparison import show
from summaries.presenting.terminal import console

pytestmark = pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    directory = tmp_path_factory.mktemp("sweep")
    return populations.sweep(directory, 0, odd="lr=0.001_bs=32/seed=1", diverged=["lr=0.01_bs=128/seed=2"])


def text(comparison):
    file = io.StringIO()
    show(comparison, console(file))
    return file.getvalue()


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_text(sweep):
    lines = text(compare(sweep)).splitlines()
    assert lines[0] == "24 runs in 6 groups, by val/loss (final, smaller is better)"
    assert lines[1].split() == ["lr", "bs", "runs", "final", "best", "diverged"]
    assert lines[2].split()[:4] == ["0.001", "128", "4", "0.5027"]
    said = "\n".join(lines[8:])
    assert "lr separates the runs: it explains " in said
    assert "; best is 0.001 (median 0.5" in said
    assert "no effect of bs is seen (Kruskal-Wallis H " in said
    assert "outlier: lr=0.01_bs=128/seed=2 diverged: inf, its group 0.9" in said
    assert "outlier: lr=0.001_bs=32/seed=1 is " in said
    assert "seeds disagree: lr=0.001 bs=32: from lr=0.001_bs=32/seed=" in said


def test_marks_are_told(sweep):
    said = text(compare(sweep, good=["lr=0.001*"]))
    assert "8 good and 16 bad runs are told apart by val/loss (final, the best of 2): AUC" in said
    assert "lr=0.001_bs=32/seed=1 is marked good, and looks bad" in said


def test_of_many_runs_that_are_left_out_the_first_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    for number in range(6):
        with SummaryWriter(tmp_path / f"run{number}") as writer:
            writer.add_scalar("loss" if number < 1 else "fps", 1.0, 0)
    said = text(compare(tmp_path)).splitlines()
    reasons = [f"run{number}: it has no loss" for number in (1, 2, 3)]
    assert said[-1] == f"left out: 5 runs: {'; '.join([*reasons, 'and 2 more'])}"


def test_json(sweep):
    found = json.loads(as_json(compare(sweep, good=["lr=0.001*"])))
    assert (found["version"], found["metric"], found["by"]) == ("1.0", "val/loss", ["lr", "bs"])
    assert len(found["runs"]) == 24
    assert len(found["groups"]) == 6
    assert {one["hyperparameter"] for one in found["separations"]} == {"lr", "bs"}
    assert found["taught"]["good"] == 8
    lost = next(run for run in found["runs"] if run["diverged"])
    assert (lost["run"], lost["final"]) == ("lr=0.01_bs=128/seed=2", None)
