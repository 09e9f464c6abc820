"""The commands `audit` and `rule`: exit status, options, and a run that is followed."""

import json
import subprocess
import sys

import pytest
from helpers import ROOT, polls

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.report.json import json as as_json
from summaries.cli import main


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three runs: healthy, with a warning, with an error; in the current directory, which has no configuration."""
    monkeypatch.chdir(tmp_path)
    for name in ("healthy", "flat", "diverging"):
        with SummaryWriter(tmp_path / "runs" / name) as writer:
            for step in range(100):
                loss = {"healthy": 0.95**step, "flat": 2.3 + 0.01 * (step % 3), "diverging": 0.9**step + step / 50}[
                    name
                ]
                writer.add_scalar("train/loss", loss, step, walltime=1e9 + step)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["runs"], 1),
        (["runs/flat"], 0),
        (["runs/flat", "--fail-on", "warning"], 1),
        (["runs/healthy", "--fail-on", "info"], 0),
        (["runs", "--fail-on", "never"], 0),
        (["runs", "--ignore", "GL304"], 0),
        (["runs", "--select", "GL4,GL5"], 0),
        (["runs", "--jobs", "2"], 1),
        (["runs", "--baseline", "runs/healthy", "--select", "GL6"], 1),
        (["nowhere"], 2),
        (["runs", "--select", "GL9"], 2),
        (["runs", "--jobs", "0"], 2),
        (["runs", "--config", "nowhere.toml"], 2),
        (["runs", "--output", "no/such/directory"], 2),
        (["runs", "--watch", "--format", "json"], 2),
    ],
)
@pytest.mark.usefixtures("runs")
def test_exit_status(arguments, status, capsys):
    assert main(["audit", *arguments]) == status
    assert (status == 2) == capsys.readouterr().err.startswith("gradledger: ")


@pytest.mark.usefixtures("runs")
def test_what_is_wrong_is_said(capsys):
    main(["audit", "runs", "--select", "GL9"])
    assert capsys.readouterr().err.startswith("gradledger: select: unknown code 'GL9'; ")
    main(["audit", "runs", "--jobs", "0"])
    assert capsys.readouterr().err == "gradledger: jobs must be at least 1, got 0\n"
    main(["audit", "nowhere"])
    assert capsys.readouterr().err == "gradledger: no such file or directory: nowhere\n"


@pytest.mark.parametrize("format_", ["text", "json", "github", "sarif"])
def test_formats_and_files(runs, format_, capsys):
    main(["audit", "runs", "--format", format_, "--output", "report"])
    assert capsys.readouterr().out == ""
    written = (runs / "report").read_text()
    main(["audit", "runs", "--format", format_, "--jobs", "2"])
    assert capsys.readouterr().out == written
    assert "GL304" in written
    assert "GL303" in written


def test_threads_find_the_same(runs):
    one, two = (audit(runs / "runs", Config(), jobs=jobs) for jobs in (1, 2))
    assert as_json(one) == as_json(two)


def test_an_event_file(runs, capsys):
    (path,) = (runs / "runs/diverging").iterdir()
    assert main(["audit", str(path), "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)["runs"][0]["name"] == path.name


@pytest.mark.usefixtures("runs")
def test_configuration(runs, capsys):
    (runs / "pyproject.toml").write_text('[tool.gradledger.audit]\nignore = ["GL304"]\n')
    assert main(["audit", "runs"]) == 0
    (runs / "pyproject.toml").write_text('[tool.gradledger.audit]\nignores = ["GL304"]\n')
    assert main(["audit", "runs"]) == 2
    assert "unknown key 'ignores'; did you mean 'ignore'?" in capsys.readouterr().err


def test_rule(capsys):
    assert main(["rule", "GL404"]) == 0
    assert capsys.readouterr().out.startswith("# GL404: clipping saturated\n")
    assert main(["rule"]) == 0
    assert "GL404  warning  clipping-saturated\n" in capsys.readouterr().out
    assert main(["rule", "GL44"]) == 2
    assert capsys.readouterr().err == "gradledger: unknown code 'GL44'; did you mean 'GL404'?\n"


def test_a_run_is_followed(tmp_path):
    """Findings of runs that begin and grow while they are watched are printed while they do."""
    command = [sys.executable, "-u", "-m", "summaries", "audit", str(tmp_path), "--watch"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        lines = iter(process.stdout.readline, "")
        with SummaryWriter(tmp_path / "live") as writer:
            for step in range(60):
                writer.add_scalar("train/loss", 1 / (1 + step), step)
            writer.add_scalar("gradients/nonfinite", 3, 60)
            writer.flush()
            assert next(lines).split()[:4] == ["error", "GL401", "non-finite-gradient", "live"]
            for step in range(60, 200):
                writer.add_scalar("train/loss", 0.1 * step, step)
            writer.flush()
            later = next(line for line in lines if line.startswith("  error"))  # behind the first one's message
            assert later.split()[:4] == ["error", "GL304", "loss-diverges", "live"]
        process.send_signal(2)
        assert process.wait() == 1


def test_it_waits_for_the_first_run(tmp_path):
    import threading

    from summaries.auditing.watch import watch

    stop, found = threading.Event(), []

    def follow():
        found.extend(finding.code for finding in watch(str(tmp_path / "later"), Config(), poll_secs=0.01, stop=stop))

    thread = threading.Thread(target=follow)
    thread.start()
    with SummaryWriter(tmp_path / "later" / "a") as writer:
        for step in range(20):
            writer.add_scalar("gradients/nonfinite", step == 15, step)
    for _ in polls():
        if found:
            break
    stop.set()
    thread.join()
    assert found == ["GL401"]
