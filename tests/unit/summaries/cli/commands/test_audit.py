"""The commands `audit` and `rule`: exit status, options, and a run that is followed."""

import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
from audits.watched import Watch
from helpers import ROOT, polls

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.report.json import json as as_json
from summaries.auditing.watch import watch
from summaries.cli import main


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three runs: healthy, with a warning, with an error; in the current directory, which has no configuration."""
    monkeypatch.chdir(tmp_path)
    for name in ("healthy", "flat", "diverging"):
        with SummaryWriter(tmp_path / "runs" / name) as writer:
            for step in range(200):
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
        (["runs", "--select", ""], 2),
        (["runs", "--ignore", ""], 2),
        (["runs", "--select", "GL102,"], 2),
        (["runs", "--select", "gl102, GL205"], 0),
        (["runs", "--select", "GL102, GL304"], 1),
        (["runs", "--select", "ALL", "--ignore", "GL3"], 0),
        (["runs", "--select", "GL304", "--ignore", "GL3"], 1),
        (["runs", "--output", "runs"], 2),
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
    main(["audit", "runs", "--select", ""])
    assert capsys.readouterr().err.startswith("gradledger: select: unknown code ''; there are GL101, ")
    main(["audit", "runs", "--output", "runs"])
    assert capsys.readouterr() == ("", "gradledger: Is a directory: 'runs'\n")


def test_what_many_tags_show_is_told_once(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)  # lines would be broken to that width
    with SummaryWriter(tmp_path) as writer:
        for step in range(60):
            for layer in range(8):
                writer.add_scalar(f"metrics/acc/{layer}", 0.5 if layer < 6 else 0.5 + step / 1000, step)
    assert main(["audit", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("GL307 constant-metric") == 1
    assert (
        "  metrics/acc/0 is 0.5 at all 60 points; and 5 more like it, in metrics/acc/1,"
        " metrics/acc/2, metrics/acc/3 and others\n"
    ) in out
    assert out.endswith("1 run, 6 notes; `gradledger rule CODE` explains a finding\n")
    assert main(["audit", str(tmp_path), "--all"]) == 0
    assert capsys.readouterr().out.count("GL307 constant-metric") == 6
    main(["audit", str(tmp_path), "--format", "json"])
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 6


@pytest.mark.usefixtures("runs")
def test_nothing_is_selected(capsys):
    assert main(["audit", "runs", "--ignore", "ALL"]) == 0
    out, err = capsys.readouterr()
    assert err == "gradledger: no rule is selected, so there is nothing to look for\n"
    assert out.endswith("3 runs, nothing found\n")


def test_what_the_command_line_says_goes_before_the_file(runs):
    (runs / "pyproject.toml").write_text('[tool.gradledger.audit]\nselect = ["GL304"]\nignore = ["GL303"]\n')
    assert main(["audit", "runs"]) == 1
    assert main(["audit", "runs", "--select", "GL303", "--fail-on", "warning"]) == 1  # although the file ignores it
    assert main(["audit", "runs", "--ignore", "GL3"]) == 0  # although the file selects it
    (runs / "pyproject.toml").write_text("[tool.gradledger.audit]\nselect = []\n")
    assert main(["audit", "runs"]) == 0


@pytest.mark.parametrize("format_", ["text", "json", "github", "sarif"])
def test_formats_and_files(runs, format_, capsys):
    main(["audit", "runs", "--format", format_, "--output", "report"])
    assert capsys.readouterr().out == ""
    written = (runs / "report").read_text(encoding="utf-8")
    main(["audit", "runs", "--format", format_, "--jobs", "2"])
    assert capsys.readouterr().out == written
    assert "GL304" in written
    assert "GL303" in written


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("a.html", "<!doctype html>"), ("a.JSON", '{"version"'), ("a.sarif", "{\n"), ("a.txt", "run "), ("html", "run ")],
)
def test_the_ending_of_the_file_names_the_format(runs, name, beginning):
    assert main(["audit", "runs", "--output", name]) == 1
    assert (runs / name).read_text(encoding="utf-8").startswith(beginning)
    assert ("$schema" in (runs / name).read_text(encoding="utf-8")) == name.endswith(".sarif")
    assert main(["audit", "runs", "--output", name, "--format", "github"]) == 1
    assert (runs / name).read_text(encoding="utf-8").startswith("::error ")


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
    stop, found = threading.Event(), []

    def follow():
        for new in watch(str(tmp_path / "later"), Config(), poll_secs=0.01, stop=stop):
            found.extend(finding.code for finding in new)

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


def test_what_is_told_of_runs_that_come_and_go(runs):
    """Nothing twice; what takes a run's place, or was cut short, is a run of its own."""
    (flat,) = (runs / "runs/flat").iterdir()
    data = flat.read_bytes()
    watched = Watch(runs / "runs")
    try:
        assert watched.look() == [("diverging", "GL304"), ("flat", "GL303")]
        os.utime(flat)
        with flat.open("ab") as file:  # a record that is being written
            file.write(data[:13])
        assert watched.look() == []
        flat.write_bytes(b"")
        assert watched.look() == []
        flat.write_bytes(data)
        assert watched.look() == [("flat", "GL303")]  # it was cut short, and is another
        flat.unlink()
        assert watched.look() == []
        (runs / "runs/flat/another.tfevents").write_bytes(data)
        assert watched.look() == [("flat", "GL303")]
        os.symlink("nowhere", runs / "runs/healthy/x.tfevents")
        assert watched.look() == [("healthy", "No such file or directory")]
        assert watched.look() == []
        shutil.rmtree(runs / "runs")
        assert watched.look() == []
    finally:
        watched.end()


@pytest.mark.parametrize(("arguments", "status"), [([], 1), (["--ignore", "GL304"], 0), (["--fail-on", "never"], 0)])
@pytest.mark.usefixtures("runs")
def test_a_watch_that_is_interrupted(arguments, status, capsys, monkeypatch):
    def sleep(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("summaries.auditing.watch.time.sleep", sleep)
    assert main(["audit", "runs", "--watch", *arguments]) == status
    said = "stopped; 1 error, 1 warning" if "--ignore" not in arguments else "stopped; 2 warnings"
    assert capsys.readouterr().out.splitlines()[-1] == said
    os.symlink("nowhere", "runs/healthy/x.tfevents")
    assert main(["audit", "runs", "--watch", *arguments]) == 2
    assert "  not audited: healthy: runs/healthy/x.tfevents: No such file or directory\n" in capsys.readouterr().out


@pytest.mark.usefixtures("runs")
def test_an_audit_that_is_interrupted(capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("summaries.auditing.engine.signals_of", interrupted)
    assert main(["audit", "runs"]) == 130
    assert capsys.readouterr() == ("", "gradledger: interrupted\n")


@pytest.mark.usefixtures("runs")
def test_a_mistake_of_ours_does_not_look_like_a_finding(capsys, monkeypatch):
    def broken(*_, **__):
        raise AssertionError("this cannot be")

    monkeypatch.setattr("summaries.auditing.engine.audit_runs", broken)
    assert main(["audit", "runs"]) == 2
    assert capsys.readouterr().err.endswith("AssertionError: this cannot be\n")


def program(arguments, directory, **options):
    """The command as a process of its own, in a directory."""
    command = [sys.executable, "-m", "summaries", "audit", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    return subprocess.run(command, cwd=directory, env=environment, check=False, capture_output=True, **options)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's pipes")
def test_who_reads_may_have_seen_enough(runs):
    command = f"'{sys.executable}' -m summaries audit runs | head -c 1; echo ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=runs, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout in {"r1\n", "r2\n"}  # all was written before the reader went, or not
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "utf-8"])
def test_code_pages(runs, encoding):
    done = program(["runs"], runs, env={"PYTHONIOENCODING": encoding})
    out = done.stdout.decode(encoding)
    assert "\\u" not in out
    assert ("█" in out) == (encoding in {"utf-8", "cp437"} and "▁" in out)
    assert done.returncode == 1


@pytest.mark.parametrize("format_", ["html", "json"])
def test_what_programs_read_is_utf_8_whatever_the_terminal_has(runs, format_, capsys):
    main(["audit", "runs", "--format", format_])
    there = program(["runs", "--format", format_], runs, env={"PYTHONIOENCODING": "cp1252"})
    assert there.stdout.replace(b"\r\n", b"\n") == capsys.readouterr().out.encode()


HOSTILE = [
    "new\nline\x1b[31mred", "[/red][bold]x[link=x]", "sur\udcff", "...", "a/..hidden", "<script>alert(1)</script>",
    "%0A::error::x", "日本語のとても長い名前のランです", " ", "-rf", "x" * 200, "{0}", "$HOME",
]  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="Python cannot name such files in this locale")
@pytest.mark.parametrize("format_", ["text", "json", "github", "sarif", "html"])
def test_hostile_names(tmp_path, monkeypatch, format_, capsys):
    """No name ends the audit, and none is obeyed: not by the terminal, the progress bar or rich."""
    from rich.progress import Progress

    monkeypatch.chdir(tmp_path)
    shown = []
    update = Progress.update
    monkeypatch.setattr(
        Progress, "update", lambda bar, *a, **k: (shown.append(bar.get_renderable()), update(bar, *a, **k))
    )
    for name in HOSTILE:
        with SummaryWriter(tmp_path / "runs" / name) as writer:
            for step in range(200):
                writer.add_scalar(f"{name.encode('utf-8', 'replace').decode()}/loss", 2.3 + 0.01 * (step % 3), step)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["audit", "runs", "--fail-on", "warning", "--format", format_]) == 1
    out, err = capsys.readouterr()
    assert "\x1b[31mred" not in err
    assert "\x1b" not in out
    out.encode()
    if format_ == "json":
        assert [run["name"] for run in json.loads(out)["runs"]] == sorted(HOSTILE)
    assert len(shown) == len(HOSTILE)


@pytest.mark.usefixtures("runs")
def test_a_page_is_not_for_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["audit", "runs", "--format", "html"]) == 2
    assert capsys.readouterr() == (
        "",
        "gradledger: --format html writes a page for a browser, not for a terminal: add --output FILE\n",
    )
    assert main(["audit", "runs", "--format", "html", "--output", "audit.html"]) == 1
