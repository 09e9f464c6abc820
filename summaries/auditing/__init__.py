"""The audit: what went wrong in a training run, where, how bad, and by what evidence.

    files → Run → signals (each tag's role) → rules → findings → report → terminal, JSON, annotations, page

`tags` decides which tag is a loss, a norm or a rate; `rules` are functions over columns; `engine` takes one run's files
to its findings, and many runs at once. A package named `auditing`, because `summaries.audit` is the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.auditing.curves import Curve
from summaries.auditing.findings import Failure, Finding, Report, RunReport, Severity

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from summaries.auditing.config import Config

__all__ = ["Curve", "Failure", "Finding", "Report", "RunReport", "Severity", "audit"]


def audit(
    path: str | os.PathLike[str],
    config: Config | Mapping[str, object] | str | os.PathLike[str] | None = None,
    *,
    baseline: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Report:
    """Say what went wrong in every run below a directory, or in one run.

    Args:
        path: a directory of runs, or an event file.
        config: a Config; or a dict of the keys of the table `[tool.gradledger.audit]`; or a TOML file with that
            table; where None, the `pyproject.toml` of the current directory or the nearest above it that has one.
        baseline: a run's directory, or an event file, that the runs are compared with; or a directory of several such
            runs, whose spread is then known.
        jobs: how many threads audit, each a run at a time; None takes one for each core where there is enough to do.
            The command line takes processes.

    Returns:
        What was found in each run; and in `failures`, which files and directories could not be read.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        OSError: nothing below it, or a part of the baseline, can be read.
        TypeError: `config` is none.
        ConfigError: the configuration has a key, a code or a value that it cannot have. A ValueError.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(100):
    ...         writer.add_scalar("train/loss", 2.3 + 0.01 * (step % 3), step)
    >>> for finding in audit(writer.get_logdir()).findings:
    ...     print(finding.code, finding.severity.name, finding.tag, finding.steps)
    GL303 WARNING train/loss (0, 99)
    """
    from summaries.auditing import config as configuration  # noqa: PLC0415 - who only logs does without the rules
    from summaries.auditing import engine  # noqa: PLC0415

    return engine.audit_logdir(path, configuration.given(config), baseline=baseline, jobs=jobs)
