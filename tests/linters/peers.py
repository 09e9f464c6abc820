"""Linters of training runs: each takes the directory of one run, and says whether it accuses it.

A run is accused if there is a finding above a note: a warning, a failure, an error or worse. Each is called in this
process, so that none of them pays for imports; what it prints is caught.
"""

import contextlib
import importlib
import inspect
import io
import json
import sys

import pandas as pd

from summaries import Severity, audit, read_run
from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of


def gradledger(run):
    """Our audit, with its defaults."""
    return any(finding.severity >= Severity.WARNING for finding in audit(run, Config()).findings)


def _status(package, *arguments):
    """The exit status of a command line, and what it printed."""
    out = io.StringIO()
    entry = importlib.import_module(f"{package}.cli").main
    words = [*map(str, arguments)]
    before, sys.argv = sys.argv, [package, *words]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = entry(words) if inspect.signature(entry).parameters else entry()
        except SystemExit as end:
            status = end.code
        finally:
            sys.argv = before
    return int(status or 0), out.getvalue()


def losslint(run):
    """With its defaults, but warnings count."""
    return _status("losslint", "check", "--fail-severity", "warning", run)[0] == 1


def trainspotter(run):
    """With its defaults."""
    return (
        _status("trainspotter", "analyze", "--format", "tensorboard", "--fail-on", "warning", "--no-color", run)[0] == 1
    )


def trainproof(run):
    """Its doctor, which reads the files of events in a directory."""
    report = json.loads(_status("trainproof", "doctor", "--json", run)[1])
    levels = {finding["level"] for one in report["reports"] for finding in one["findings"]}
    return bool(levels & {"FAIL", "WARN"})


def runmedic(run):
    """With its defaults."""
    return _status("runmedic", "diagnose", "--fail-on", "warning", run)[0] == 1


def gradsnitch(run):
    """It reads no event files: it is given a table of the losses, the rate and the norm that our audit sees."""
    signals = signals_of("run", read_run(run), Config())
    validation = [*signals.of("validation_loss"), None][0]
    roles = {"lr": "learning_rate", "grad_norm": "global_norm"}
    chosen = {"train_loss": signals.main_loss or signals.main, "val_loss": validation}
    chosen |= {name: next(iter(signals.of(role)), None) for name, role in roles.items()}
    columns = {name: one.finite for name, one in chosen.items() if one is not None}
    if "train_loss" not in columns:
        return False
    table = pd.concat(
        [pd.Series(one.value, one.step, name=name).groupby(level=0).last() for name, one in columns.items()], axis=1
    )
    return bool(importlib.import_module("gradsnitch").lint(table.rename_axis("step").reset_index()))


LINTERS = gradledger, runmedic, gradsnitch, trainproof, trainspotter, losslint
"""Ours first."""
