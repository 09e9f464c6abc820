"""The audit: what went wrong in a training run, where, how bad, and by what evidence.

    files → Run → signals (each tag's role) → rules → findings → report → terminal, JSON, annotations, page

`tags` decides which tag is a loss, a norm or a rate; `rules` are functions over columns; `engine` takes one run's files
to its findings, and many runs at once. A package named `auditing`, because `summaries.audit` is the function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.auditing.finding import Curve, Finding, Report, RunReport, Severity

if TYPE_CHECKING:
    import os

    from summaries.auditing.config import Config

__all__ = ["Curve", "Finding", "Report", "RunReport", "Severity", "audit"]


def audit(
    path: str | os.PathLike[str],
    config: Config | str | os.PathLike[str] | None = None,
    *,
    baseline: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
) -> Report:
    """Say what went wrong in every run below a directory, or in one run.

    Args:
        path: a directory of runs, or an event file.
        config: a Config; or a TOML file with a table `[tool.gradledger.audit]`; where None, the `pyproject.toml` of
            the current directory or the nearest above it that has such a table.
        baseline: a run's directory, or an event file, that the runs are compared with; or a directory of several such
            runs, whose spread is then known.
        jobs: how many threads audit, each a run at a time; None takes one for each core where there is enough to do.
            The command line takes processes.

    Raises:
        FileNotFoundError: there is no such path, or no event file below it.
        OSError: a file cannot be read.
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

    if not isinstance(config, configuration.Config):
        config = configuration.load(config)
    return engine.audit_logdir(path, config, baseline=baseline, jobs=jobs)
