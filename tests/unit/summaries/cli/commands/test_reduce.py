"""The command `reduce`: options, what it says, and exit status."""

import csv
import io
import json
import os

import numpy as np
import pytest
from helpers import event_files

from summaries import SummaryWriter, read_logdir
from summaries.cli import main


@pytest.mark.usefixtures("runs")
def test_runs_for_each_statistic(capsys):
    assert main(["reduce", "runs", "--runs", "lr=0.1*", "--tags", "*loss", "-o", "out"]) == 0
    assert capsys.readouterr().out == "out: mean, std, min, max, median of 2 tags in 2 runs\n"
    written, runs = read_logdir("out"), read_logdir("runs")
    assert set(written) == {"mean", "std", "min", "max", "median"}
    values = [runs[f"lr=0.1_seed={seed}"].scalars["train/loss"].value for seed in (0, 1)]
    np.testing.assert_array_equal(written["mean"].scalars["train/loss"].value, np.mean(values, 0, dtype=np.float32))


@pytest.mark.usefixtures("runs")
def test_groups(capsys):
    assert main(["reduce", "runs", "--by", "all", "-o", "out", "--statistics", "mean,count"]) == 0
    assert capsys.readouterr().out == (
        "out, lr=0.1: mean, count of 3 tags in 2 runs\nout, lr=0.5: mean, count of 3 tags in 1 run\n"
    )
    assert set(read_logdir("out")) == {f"lr={rate}/{name}" for rate in (0.1, 0.5) for name in ("mean", "count")}
    assert main(["reduce", "runs", "--by", "seed", "-o", "out.csv", "--statistics", "count"]) == 0
    with open("out.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["group", "tag", "step", "wall_time", "count"]
    assert {(row["group"], row["count"]) for row in rows} == {("seed=0", "2.0"), ("seed=1", "1.0")}


@pytest.mark.usefixtures("runs")
def test_standard_output_is_for_the_table(capsys):
    assert main(["reduce", "runs", "-o", "-", "--statistics", "q0.5", "--tags", "val/loss"]) == 0
    printed = capsys.readouterr()
    rows = list(csv.reader(io.StringIO(printed.out)))
    assert (rows[0], len(rows)) == (["tag", "step", "wall_time", "q0.5"], 11)
    assert printed.err == "-: q0.5 of 1 tag in 3 runs\n"


@pytest.mark.usefixtures("runs")
def test_what_is_left_out(capsys):
    pytest.importorskip("pyarrow", reason="an extra")
    with SummaryWriter("runs/lr=0.1_seed=2") as writer:
        for step in (0, 1, 1, 50):
            writer.add_scalar("train/loss", 1.0, step)
        writer.add_scalar("other", 1.0, 0)
    arguments = ["reduce", "runs", "--runs", "lr=0.1*", "--statistics", "mean", "--min-runs", "2"]
    assert main([*arguments, "-o", "a"]) == 0
    missing = [os.path.join("runs", f"lr=0.1_seed={seed}") for seed in range(3)]
    assert capsys.readouterr().out == (
        "a: mean of 3 tags in 3 runs\n"
        f"  gradients/global_norm and val/loss: 2 of 3 runs had it, not {missing[2]}\n"
        f"  other: 1 of 3 runs had it, not {missing[0]} and {missing[1]}: left out\n"
        "  train/loss: 97 steps left out that too few runs have\n"
        "  train/loss: 1 point left out that a later one supersedes\n"
    )
    assert main([*arguments, "-o", "b.csv", "--json", "--align", "union"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert facts["left_out"] == ["other"]
    assert facts["missing"] == {"gradients/global_norm": missing[2:], "val/loss": missing[2:], "other": missing[:2]}
    assert facts["tags"]["train/loss"] == {"runs": 3, "steps": 100, "steps_left_out": 0, "superseded": 1, "nans": 0}
    assert main([*arguments[:-1], "all", "-o", "c.parquet", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)[0]["tags"]) == ["train/loss"]


@pytest.mark.usefixtures("runs")
def test_damage_is_told_and_the_rest_is_used(capsys):
    (file,) = event_files("runs/lr=0.1_seed=0")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert main(["reduce", "runs", "-o", "out", "--statistics", "max"]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("out: max of 3 tags in 3 runs\n")
    assert printed.err.startswith("gradledger: data checksum mismatch: got 0x")


@pytest.mark.usefixtures("runs")
def test_nothing_is_read_when_there_can_be_no_output(capsys, monkeypatch):
    os.makedirs("out/precious")
    monkeypatch.setattr("summaries.tools.runs.read_files", None)
    assert main(["reduce", "runs", "-o", "out"]) == 2
    assert (
        capsys.readouterr().err
        == "gradledger: the output must be a new directory or an empty one, got out, which has contents\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such file or directory: nowhere"),
        (["runs", "--by", "lr,x"], "no run states the hyperparameter 'x'; stated: lr"),
        (
            ["runs", "--runs", "x*", "--by", "all"],
            "no run has a name that matches; there are lr=0.1_seed=0, lr=0.1_seed=1 and lr=0.5_seed=0",
        ),
        (["runs", "runs/"], "each run must be given once, got runs/lr=0.1_seed=0 twice"),
        (["runs", "--min-runs", "0"], "min_runs must be at least 1, or 'all', got 0"),
    ],
)
@pytest.mark.usefixtures("runs")
def test_mistakes(arguments, message, capsys):
    assert main(["reduce", *arguments, "-o", "out"]) == 2
    assert capsys.readouterr().err == f"gradledger: {message}\n"
    assert os.listdir() == ["runs"]


@pytest.mark.usefixtures("runs")
def test_no_tag_matches(capsys):
    assert main(["reduce", "runs", "--tags", "nix", "--statistics", "mean", "-o", "out"]) == 0
    assert capsys.readouterr() == ("out: mean of 0 tags in 3 runs\n", "gradledger: no tag matches 'nix'\n")
    assert main(["reduce", "runs", "--tags", "train/loss", "--min-runs", "9", "-o", "few"]) == 0
    told = "few: mean, std, min, max, median of 0 tags in 3 runs\n  train/loss: 3 of 3 runs had it: left out\n"
    assert capsys.readouterr() == (told, "")


@pytest.mark.usefixtures("runs")
def test_a_number_of_runs(capsys):
    assert main(["reduce", "runs", "--min-runs", "most", "-o", "out"]) == 2
    assert "'most' is neither an integer nor 'all'" in capsys.readouterr().err


def test_by_what_a_file_beside_the_run_states(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, decay in (("a", 0.1), ("b", 0.1), ("c", 0.2)):
        with SummaryWriter(f"runs/{name}") as writer:
            writer.add_scalar("loss", 1.0, 0)
        with open(f"runs/{name}/args.json", "w", encoding="utf-8") as file:
            json.dump({"wd": decay, "output": name}, file)
    assert main(["reduce", "runs", "--by", "wd", "--statistics", "mean", "-o", "out"]) == 0
    assert capsys.readouterr().out == "out, wd=0.1: mean of 1 tag in 2 runs\nout, wd=0.2: mean of 1 tag in 1 run\n"
    assert main(["reduce", "runs", "--by", "depth", "--statistics", "mean", "-o", "out2"]) == 2
    assert "no run states the hyperparameter 'depth'" in capsys.readouterr().err
