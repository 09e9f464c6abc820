"""The command `compare`: options, formats and exit status."""

import json

import fsspec
import pytest
from labelled import populations

from summaries import SummaryWriter, compare
from summaries.cli import main


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return populations.sweep(tmp_path / "runs", 0)


@pytest.mark.usefixtures("sweep")
def test_formats(capsys):
    assert main(["compare", "runs"]) == 0
    assert capsys.readouterr().out.startswith("24 runs in 6 groups, by val/loss (final, smaller is better)\n")
    assert main(["compare", "runs", "--by", "lr", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["by"] == ["lr"]
    assert main(["compare", "runs", "--format", "html", "--output", "page.html"]) == 0
    assert main(["compare", "runs", "--output", "report.txt"]) == 0
    assert main(["compare", "runs", "--output", "report.json"]) == 0
    assert main(["compare", "runs", "--output", "named.html"]) == 0
    assert main(["compare", "runs", "--output", "named.sarif"]) == 0  # no format of this command
    assert capsys.readouterr().out == ""
    with open("page.html", encoding="utf-8") as page, open("report.txt", encoding="utf-8") as report:
        assert page.read().startswith("<!doctype html>")
        assert report.read().startswith("24 runs in 6 groups")
    with open("report.json", encoding="utf-8") as report, open("named.html", encoding="utf-8") as page:
        assert json.load(report)["metric"] == "val/loss"
        assert page.read().startswith("<!doctype html>")
    with open("named.sarif", encoding="utf-8") as report:
        assert report.read().startswith("24 runs in 6 groups")


@pytest.mark.usefixtures("sweep")
def test_a_narrow_terminal_shows_by_what_runs_are_grouped(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["compare", "runs", "--by", "lr"]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()[1:5]
    assert heading.split()[0] == "lr"
    assert [row.split()[0] for row in rows] == ["0.001", "0.0001", "0.01"]


@pytest.mark.usefixtures("sweep")
def test_an_address(capsys, tmp_path):
    """With options, which `dir://` needs, and a cache."""
    assert main(["compare", "runs"]) == 0
    local = capsys.readouterr().out
    where = ["--storage-option", f"path={tmp_path}", "--storage-option", "target_protocol=file"]
    for more in ([], ["--cache-dir", "cache"], ["--cache-dir", "cache"]):
        assert main(["compare", "dir://runs", *where, *more]) == 0
        assert capsys.readouterr().out == local
    assert len(list((tmp_path / "cache").iterdir())) == 24
    found = compare("dir://runs", storage_options={"path": str(tmp_path), "target_protocol": "file"}, cache="cache")
    assert len(found.members) == 24


def test_runs_that_state_nothing(tmp_path, capsys):
    for name in ("a", "b"):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("loss", 1.0, 1)
    assert main(["compare", str(tmp_path), "--by", "lr"]) == 2
    assert capsys.readouterr().err == "gradledger: no run states the hyperparameter 'lr'; stated: none\n"
    assert main(["compare", str(tmp_path), "--by", "run"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no such file or directory: nowhere"),
        (["runs", "--by", "lr,x"], "no run states the hyperparameter 'x'; stated: lr, bs"),
        (["runs", "--metric", "acc"], "no run has the metric 'acc'"),
        (["runs", "--jobs", "0"], "jobs must be at least 1, got 0"),
        (["runs", "--table", "no.csv"], "No such file or directory: 'no.csv'"),
    ],
)
@pytest.mark.usefixtures("sweep")
def test_mistakes(arguments, message, capsys):
    assert main(["compare", *arguments]) == 2
    assert capsys.readouterr().err == f"gradledger: {message}\n"


@pytest.mark.usefixtures("sweep")
def test_in_processes_as_in_one(capsys):
    assert main(["compare", "runs", "--format", "json", "--jobs", "1"]) == 0
    alone = capsys.readouterr().out
    assert main(["compare", "runs", "--format", "json", "--jobs", "2"]) == 0
    assert capsys.readouterr().out == alone


@pytest.mark.usefixtures("sweep")
def test_a_report_goes_to_an_address(capsys):
    for command, end in (("compare", "page.html"), ("audit", "report.json")):
        form = end.partition(".")[2]
        assert main([command, "runs", "--format", form]) in {0, 1}
        shown = capsys.readouterr().out
        assert main([command, "runs", "--format", form, "--output", f"memory://out/{end}"]) in {0, 1}
        assert fsspec.filesystem("memory").cat_file(f"/out/{end}").decode() == shown
    assert main(["audit", "runs", "--output", "nowhere://out/x"]) == 2
    assert "Protocol not known: nowhere" in capsys.readouterr().err


@pytest.mark.usefixtures("sweep")
def test_damage_is_told_and_counts(tmp_path, capsys):
    """A run whose start is lost is compared by the rest; a killed run's torn tail is no damage."""
    torn, damaged, *_ = sorted((tmp_path / "runs").rglob("*tfevents*"))
    torn.write_bytes(torn.read_bytes()[:-3])
    assert main(["compare", "runs"]) == 0
    assert "record" in capsys.readouterr().err
    damaged.write_bytes(damaged.read_bytes()[:200] + b"x" + damaged.read_bytes()[201:])
    assert main(["compare", "runs"]) == 1
    assert "checksum mismatch" in capsys.readouterr().err
