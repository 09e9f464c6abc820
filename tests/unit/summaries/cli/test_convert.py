"""The command `convert`: what it says, and its exit status."""

import documented_runs
import pytest
from helpers import event_files

from summaries import read_logdir
from summaries.cli import main


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    documented_runs.write("runs")


@pytest.mark.usefixtures("runs")
def test_there_and_back(capsys):
    assert main(["convert", "runs", "points.txt", "--to", "jsonl"]) == 0
    left_out = "  tags of histograms: 3 left out\n  tags of texts: 3 left out\n"
    assert capsys.readouterr().out == f"points.txt: 630 points of 3 runs\n{left_out}"
    assert main(["convert", "points.txt", "back", "--from", "jsonl"]) == 0
    assert capsys.readouterr().out == "back: 630 points of 3 runs\n"
    assert list(read_logdir("back")) == list(read_logdir("runs"))


@pytest.mark.usefixtures("runs")
def test_damage_is_told_and_the_rest_is_converted(capsys):
    (file,) = event_files("runs/lr=0.1_seed=0")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert main(["convert", "runs", "points.csv"]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith("points.csv: 629 points of 3 runs\n")
    assert printed.err.startswith("gradledger: data checksum mismatch: got 0x")


@pytest.mark.usefixtures("runs")
def test_what_a_terminal_would_obey_is_escaped(capsys):
    with open("x.csv", "w", encoding="utf-8") as file:
        file.write("step,loss,\x1b[31mred\n1,2,x\n")
    assert main(["convert", "x.csv", "out\x1b"]) == 0
    assert capsys.readouterr().out == (
        "out\\x1b: 1 point of 1 run\n"
        "  values of '\\x1b[31mred' that are no numbers: 1 left out\n"
        "  1 point had no time, and got that of the conversion\n"
    )


@pytest.mark.usefixtures("runs")
def test_mistakes(capsys):
    assert main(["convert", "runs", "out"]) == 2
    assert capsys.readouterr().err.startswith("gradledger: the target must end in .csv, .parquet or .jsonl, ")
    assert main(["convert", "runs", "out", "--to", "xml"]) == 2
    assert "'xml' is not one of 'events', 'csv', 'parquet', 'jsonl', 'mlflow', 'wandb'" in capsys.readouterr().err
