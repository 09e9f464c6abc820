"""What cannot be audited is told, in every format, and costs the other runs nothing."""

import json
import os
import shutil
import sys
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest

from summaries import Failure, Report, SummaryWriter, audit
from summaries.auditing import discovery, engine
from summaries.auditing.config import Config
from summaries.auditing.rules import RULES
from summaries.cli import main
from summaries.reading import readable

NO_FILE = "No such file or directory"
closed_to_us = pytest.mark.skipif(
    sys.platform == "win32" or (hasattr(os, "geteuid") and os.geteuid() == 0), reason="nothing is closed to this user"
)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Two runs, one of which diverges, and one with a link to nowhere beside its events; in the current directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("diverging", "healthy", "linked"):
        with SummaryWriter(f"runs/{name}") as writer:
            for step in range(100):
                loss = 0.9**step + step / 50 if name == "diverging" else 0.95**step
                writer.add_scalar("train/loss", loss, step, walltime=1e9 + step)
    os.symlink("nowhere", "runs/linked/events.out.tfevents.9.link")
    return tmp_path


KILLED = "killed by signal 9, as happens when the system runs out of memory"
LINK = Failure("linked", os.path.join("runs", "linked", "events.out.tfevents.9.link"), NO_FILE)


def test_a_link_to_nowhere(runs):
    report = audit("runs")
    assert report.failures == (LINK,)
    assert [finding.code for finding in report.findings] == ["GL304"]
    linked = report.runs[2]
    assert (linked.name, linked.points, len(linked.files)) == ("linked", 100, 1)  # its other file was audited


def test_a_run_of_which_nothing_can_be_read(runs):
    os.makedirs("runs/gone")
    os.symlink("nowhere", "runs/gone/a.tfevents")
    os.symlink("nowhere", "runs/gone/b.tfevents")
    report = audit("runs")
    assert [failure.run for failure in report.failures] == ["gone", "gone", "linked"]
    assert report.runs[1].points == 0
    assert report.runs[1].findings == ()


def test_deleted_between_listing_and_reading(runs):
    listed = discovery.runs_below("runs")
    shutil.rmtree("runs/diverging")
    report = Report(engine.audit_runs(listed, Config()))
    assert [(failure.run, failure.reason) for failure in report.failures] == [
        ("diverging", NO_FILE),
        ("linked", NO_FILE),
    ]
    assert [run.name for run in report.runs] == ["diverging", "healthy", "linked"]


def test_a_directory_that_cannot_be_listed(runs, refuse_to_list):
    refuse_to_list("healthy")
    report = audit("runs")
    assert report.failures == (Failure("healthy", os.path.join("runs", "healthy"), "Permission denied"), LINK)
    assert [run.name for run in report.runs] == ["diverging", "healthy", "linked"]
    os.makedirs("other/healthy")
    with pytest.raises(PermissionError):  # there is nothing to tell beside it
        audit("other")


@closed_to_us
def test_a_file_and_a_directory_without_permission(runs):
    os.chmod("runs/healthy", 0)
    (path,) = (runs / "runs/diverging").iterdir()
    path.chmod(0)
    report = audit("runs")
    assert [failure.reason for failure in report.failures] == ["Permission denied", "Permission denied", NO_FILE]
    os.chmod("runs/healthy", 0o700)


def test_a_file_that_cannot_be_read_to_its_end(runs, monkeypatch):
    def read_files(files, tags=None):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(readable, "read_files", read_files)
    (run,) = audit("runs/healthy").runs
    assert run.failures == (Failure(".", run.files[0], "Input/output error"),)


def test_a_rule_that_fails(runs, monkeypatch):
    def check(run, limit):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setitem(RULES, "GL301", replace(RULES["GL301"], check=check))
    report = audit("runs/healthy")
    (failure,) = report.failures
    assert failure.reason.startswith("ZeroDivisionError at test_readable.py:")
    assert failure.reason.endswith(": division by zero - this is a bug in gradledger, not in the run")


def test_memory_that_runs_out(runs, monkeypatch):
    monkeypatch.setattr(readable, "read_files", lambda *_, **__: bytearray(1 << 62))
    assert {failure.reason for failure in audit("runs/healthy").failures} == {"out of memory"}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_status(runs, jobs, capsys):
    assert main(["audit", "runs", "--jobs", jobs]) == 2
    out = capsys.readouterr().out
    assert "linked       100     100" in out
    assert f"\nnot audited\n  linked: {LINK.path}: {NO_FILE}\n\n" in out
    assert out.endswith("3 runs, 1 error, 1 part not audited; `gradledger rule CODE` explains a finding\n")
    assert main(["audit", "runs", "--fail-on", "never", "--jobs", jobs]) == 2
    shutil.rmtree("runs/linked")
    assert main(["audit", "runs", "--jobs", jobs]) == 1


@pytest.mark.parametrize("format_", ["json", "github", "sarif", "html"])
def test_formats(runs, format_, capsys):
    assert main(["audit", "runs", "--format", format_]) == 2
    out, err = capsys.readouterr()
    assert err == f"gradledger: not audited: linked: {LINK.path}: {NO_FILE}\n"
    if format_ == "github":
        assert out.splitlines()[0] == f"::error title=not audited::linked: {LINK.path}: {NO_FILE}"
    else:
        assert NO_FILE in out


def test_json(runs, capsys):
    main(["audit", "runs", "--format", "json"])
    value = json.loads(capsys.readouterr().out)
    jsonschema.validate(
        value, json.loads(files("summaries.auditing").joinpath("report/report.schema.json").read_text())
    )
    assert value["failures"] == [{"run": "linked", "path": LINK.path, "reason": NO_FILE}]
    assert [run["complete"] for run in value["runs"]] == [True, True, False]


def test_sarif(runs, capsys):
    main(["audit", "runs", "--format", "sarif"])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == f"linked: {LINK.path}: {NO_FILE}"
    assert note["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == LINK.path.replace(os.sep, "/")


def test_a_baseline_that_cannot_be_read(runs, capsys):
    assert main(["audit", "runs/healthy", "--baseline", "runs/linked"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"gradledger: cannot compare with runs/linked: {LINK.path}: {NO_FILE}\n")


def test_a_process_that_is_killed(runs, monkeypatch, capsys):
    from processes.doomed import DoomedTask

    monkeypatch.setattr(engine, "Task", DoomedTask)
    assert main(["audit", "runs", "--jobs", "2", "--format", "json"]) == 2
    value = json.loads(capsys.readouterr().out)
    assert [(failure["run"], failure["reason"]) for failure in value["failures"]] == [
        (
            "healthy",
            f"killed its worker three times: the last one was {KILLED}",
        ),
        ("linked", NO_FILE),
    ]
    assert [finding["code"] for finding in value["findings"]] == ["GL304"]
