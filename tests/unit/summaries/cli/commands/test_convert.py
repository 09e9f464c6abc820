"""The command `convert`: what it says, and its exit status."""

import os
import sys
import zipfile

import pytest
from helpers import event_files

from summaries import SummaryWriter, read_logdir
from summaries.cli import main


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


def test_a_broken_file_is_named_and_the_others_are_converted(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "offline").mkdir()
    with zipfile.ZipFile("offline/a.zip", "w") as file:
        file.writestr("experiment.json", '{"offline_id": "e"}')
        file.writestr("messages.json", "")
    (tmp_path / "offline" / "b\x1b.zip").write_bytes(b"PK")
    assert main(["convert", "offline", "out"]) == 1
    where = os.path.join("offline", "b\\x1b.zip")
    assert capsys.readouterr().err == f"gradledger: left out: {where}: not a whole ZIP file: File is not a zip file\n"


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
def test_nothing_matches(capsys):
    assert main(["convert", "runs", "points.csv", "--tags", "nix"]) == 0
    assert capsys.readouterr() == ("points.csv: 0 points of 3 runs\n", "gradledger: no tag matches 'nix'\n")
    assert main(["convert", "runs", "none.csv", "--runs", "nix"]) == 0
    assert capsys.readouterr() == ("none.csv: 0 points of 0 runs\n", "gradledger: no run matches 'nix'\n")
    assert main(["convert", "points.csv", "empty"]) == 0
    assert capsys.readouterr() == ("empty: 0 points of 0 runs\n", "")


@pytest.mark.usefixtures("runs")
def test_mistakes(capsys):
    assert main(["convert", "runs", "out"]) == 2
    assert capsys.readouterr().err.startswith("gradledger: the target must end in .csv, .parquet or .jsonl, ")
    assert main(["convert", "runs", "out", "--to", "xml"]) == 2
    assert "'xml' is not one of 'events', 'csv', 'parquet', 'jsonl', 'mlflow'." in capsys.readouterr().err


@pytest.fixture
def odd_runs(tmp_path, monkeypatch):
    """Names that are not UTF-8, tags with control characters, a damaged file, an empty one, a run without scalars."""
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"odd/caf\xe9")
    with SummaryWriter(name) as writer:
        for tag in ("a\r\nb", "\x1b[31mred", 'q"uo,te', "größe"):
            writer.add_scalar(tag, 1.0, 3, 1e9)
    with SummaryWriter("odd/damaged") as writer:
        for step in range(100):
            writer.add_scalar("x", step, step, 1e9)
    (file,) = event_files("odd/damaged")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with SummaryWriter("odd/texts") as writer:
        writer.add_text("note", "hello", 0)
    os.mkdir("odd/empty")
    open("odd/empty/events.out.tfevents.1.host", "w").close()
    with open("odd/empty/events.out.tfevents.2.host", "w", encoding="utf-8") as file:
        file.write("no event file")
    return name


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8")
@pytest.mark.parametrize("target", ["x.csv", "x.parquet", "x.jsonl", "mlruns"])
def test_odd_runs(odd_runs, target, capsys):
    pytest.importorskip("pyarrow", reason="an extra")
    assert main(["convert", "odd", target]) == 1
    assert capsys.readouterr().out.startswith(f"{target}: 103 points of 4 runs\n")
    assert main(["convert", target, "back"]) == 0
    runs = read_logdir("back")
    points = {tag: one.value.tolist() for run in runs.values() for tag, one in run.scalars.items()}
    names = (
        ("a__b", "__31mred", "q_uo_te", "gr__e")
        if target == "mlruns"
        else ("a\r\nb", "\x1b[31mred", 'q"uo,te', "größe")
    )
    assert {tag: points[tag] for tag in names} == {key: [1.0] for key in names}
    assert len(points["x"]) == 99


@pytest.mark.skipif(sys.platform != "linux", reason="names that are not UTF-8")
@pytest.mark.parametrize("target", ["x.csv", "x.parquet", "out"])
def test_odd_runs_are_reduced(odd_runs, target, capsys):
    pytest.importorskip("pyarrow", reason="an extra")
    assert main(["reduce", "odd", "-o", target, "--statistics", "mean", "--by", "all"]) == 1
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{target}, ")
    assert "caf\\udce9" in printed.out
    assert "\x1b" not in printed.out + printed.err
    if target == "out":
        tags = [tag for run in read_logdir(target).values() for tag in run.scalars]
        assert sorted(tags) == ["\x1b[31mred", "a\r\nb", "größe", 'q"uo,te', "x"]
