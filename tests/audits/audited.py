"""What the audit finds: in files of scalars that a test logs, and in a run of columns that it makes up."""

import numpy as np
from labelled import runs as labelled

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run


def log(directory, steps, *, secs=1.0, start=1e9, suffix="", purge=None, value=lambda step: 1 / (1 + step), tag="loss"):
    """Log a file in which each step comes `secs` seconds after the one before, from `start` on; returns its path."""
    with SummaryWriter(directory, filename_suffix=suffix, purge_step=purge) as writer:
        for i, step in enumerate(steps):
            writer.add_scalar(tag, value(step), step, walltime=start + i * secs)
    return writer.path


def found_in(directory):
    """{code: finding} of the only run below a directory."""
    (run,) = audit(directory, Config()).runs
    return {finding.code: finding for finding in run.findings}


def findings(*codes, **values):
    """The findings of these rules, of all where none is named, in a run of these tags' values; `__` stands for `/`."""
    columns = {tag.replace("__", "/"): labelled.columns(value) for tag, value in values.items()}
    run = labelled.as_run(np.random.default_rng(0), columns)
    return audit_run("run", run, Config(select=codes or ("ALL",))).findings


def codes(**values):
    """The codes of what is found but for notes, in a run of these tags' values."""
    return [finding.code for finding in findings(**values) if finding.severity]


def finding(code, **values):
    """The first finding of a code in a run of these tags' values; None where there is none."""
    return next(iter(findings(code, **values)), None)
