"""`gradledger export`: options, what is printed, and the exit status."""

import json
import os

import pytest

from summaries import SummaryWriter, read_run
from summaries.cli import main

pq = pytest.importorskip("pyarrow.parquet", reason="an extra")


@pytest.fixture
def logdir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        with SummaryWriter(f"logs/{name}") as writer:
            for step in (0, 1, 2, 1):
                writer.add_scalar("loss", 0.5, step, walltime=100.0)
            writer.add_scalar("lr", 0.25, 0, walltime=100.0)
    return "logs"


def command(capsys, *arguments, status=0):
    assert main(["export", *arguments]) == status
    printed = capsys.readouterr()
    return printed.out, printed.err


@pytest.mark.parametrize("target", ["x.parquet", "x.csv", "ds"])
def test_the_formats(logdir, capsys, target):
    assert command(capsys, logdir, target) == (f"{target}: 10 points of 2 runs\n", "")


def test_what_is_chosen(logdir, capsys):
    out, told = command(capsys, logdir, "-", "--tags", "lo*", "--tags", "x", "--runs", "b", "--latest")
    assert out == "run,tag,step,wall_time,value\nb,loss,0,100.0,0.5\nb,loss,1,100.0,0.5\n"
    assert told == "-: 2 points of 1 run\n"
    out, told = command(capsys, logdir, "-", "--runs", "a", "--wide")
    assert out == "run,step,wall_time,loss,lr\na,0,100.0,0.5,0.25\na,1,100.0,0.5,\na,2,100.0,0.5,\n"
    assert told == "-: 3 rows of 1 run\n"


def test_a_dataset_is_kept_current(logdir, capsys):
    command(capsys, logdir, "ds")
    assert command(capsys, logdir, "ds", "--incremental") == ("ds: 0 points of 0 runs, 2 runs unchanged\n", "")
    assert command(capsys, logdir, "ds", "--full") == ("ds: 10 points of 2 runs\n", "")
    (path,) = read_run("logs/b").files
    with SummaryWriter("logs/a"):
        pass
    with open(path, "rb+") as file:
        file.truncate(0)
    assert command(capsys, logdir, "ds")[0] == "ds: 5 points of 2 runs\n"
    command(capsys, logdir, "v1.2", "--format", "dataset")
    assert command(capsys, "logs/a", "v1.2", "--delete", "--format", "dataset")[0] == (
        "v1.2: 5 points of 1 run, 2 runs no longer there: removed\n"
    )
    assert set(pq.read_table("v1.2")["run"].to_pylist()) == {"."}


def test_json_for_programs(logdir, capsys):
    command(capsys, logdir, "ds", "--runs", "a")
    told = {"rows": 5, "written": ["b"], "unchanged": ["a"], "vanished": []}
    assert json.loads(command(capsys, logdir, "ds", "--json")[0]) == told


def test_jobs(logdir, capsys):
    assert command(capsys, logdir, "ds", "--jobs", "2") == ("ds: 10 points of 2 runs\n", "")
    said = "gradledger: an executor, as of --jobs and --dask, is for a dataset, and the format is 'csv'\n"
    assert command(capsys, logdir, "x.csv", "--jobs", "2", status=2) == ("", said)
    assert command(capsys, logdir, "ds", "--jobs", "0", status=2)[1] == "gradledger: --jobs must be at least 1, got 0\n"


def test_patterns_that_match_nothing_are_told(logdir, capsys):
    assert command(capsys, logdir, "x.csv", "--tags", "nix") == (
        "x.csv: 0 points of 2 runs\n",
        "gradledger: no tag matches 'nix'\n",
    )
    assert command(capsys, logdir, "x.csv", "--runs", "nix", "--tags", "loss") == (
        "x.csv: 0 points of 0 runs\n",
        "gradledger: no run matches 'nix'\n",
    )


def test_other_targets(logdir, capsys):
    said = "the target must end in .parquet or .csv, or have no ending for a dataset; or give its format: x.xlsx"
    assert command(capsys, logdir, "x.xlsx", status=2) == ("", f"gradledger: {said}\n")


def test_damage_is_told(logdir, capsys):
    path = read_run("logs/a").files[0]
    with open(path, "ab") as file:
        file.write(bytes(100))
    out, told = command(capsys, path, "x.csv", status=1)
    assert out == "x.csv: 5 points of 1 run\n"
    assert told.startswith("gradledger: ")
    assert "zero bytes" in told


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("target", ["x.csv", "x.parquet", "ds", "-"])
def test_what_cannot_be_read_is_said_and_the_rest_is_exported(logdir, refuse_to_list, capsys, target):
    os.mkdir("logs/closed")
    os.symlink("nowhere", "logs/b/y.tfevents")
    refuse_to_list("closed")
    out, told = command(capsys, logdir, target, status=2)
    said = [
        f"gradledger: Permission denied: '{os.path.join('logs', 'closed')}'",
        f"gradledger: No such file or directory: '{os.path.join('logs', 'b', 'y.tfevents')}'",
    ]
    if target == "-":
        assert told.splitlines() == [*said, "-: 5 points of 1 run"]
        assert {line.split(",")[0] for line in out.splitlines()} == {"run", "a"}
    else:
        assert (out, told.splitlines()) == (f"{target}: 5 points of 1 run\n", said)


def test_a_run_without_scalars_is_no_misspelled_tag(logdir, capsys):
    with SummaryWriter("logs/c") as writer:
        writer.add_text("plan", "as before", 0)
    assert command(capsys, logdir, "c.csv", "--runs", "c") == ("c.csv: 0 points of 1 run\n", "")
