"""The audit: what went wrong in a training run, where, how bad it is, and the evidence for it.

    files → Run → signals (the role of each tag) → rules → findings → report → terminal, JSON, annotations, page

`signals` decides which tag is a loss, a norm or a rate; `statistics` describes series; `rules` are functions over them;
`engine` runs the rules on one run or many, and on the ranks of a job. `watch` follows files, `live` a training loop,
and `alerts` report what they find. `comparison` compares runs. The package is called `auditing` because
`summaries.audit` is the function.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from concurrent.futures import Executor

    from summaries.auditing.comparison import Comparison
    from summaries.auditing.config import Config
    from summaries.auditing.curves import Curve
    from summaries.auditing.findings import Failure, Finding, RunReport, Severity
    from summaries.auditing.reports import Report as Report
    from summaries.storage.files import Access
else:
    _, __getattr__, __dir__ = lazy(
        __name__, {"curves": "Curve", "findings": "Failure Finding RunReport Severity", "reports": "Report"}
    )

__all__ = ["Curve", "Failure", "Finding", "Report", "RunReport", "Severity", "audit", "compare"]


def audit(
    path: str | os.PathLike[str],
    config: Config | Mapping[str, object] | str | os.PathLike[str] | None = None,
    *,
    baseline: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    executor: Executor | None = None,
    storage_options: Mapping[str, object] | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Report:
    """Find out what went wrong in every run below a directory, or in one run.

    Args:
        path: a directory of runs, or an event file; a local path, or an address that fsspec knows, such as `s3://…`.
        config: a Config; or a dict with the keys of the table `[tool.gradledger.audit]`; or the path of a TOML file
            with that table, such as a `pyproject.toml`; None takes the defaults, and reads no file.
        baseline: the directory of a run, or an event file, to compare the runs with; or a directory of several such
            runs, which also shows how much runs differ by chance.
        jobs: number of runs that are audited at a time, each in a thread; None takes one per core if there is enough
            to do. The command line uses processes.
        executor: where to audit instead: any `concurrent.futures.Executor`, such as Dask's
            `Client(…).get_executor()`. Its workers read the files, so they must reach the path. `jobs` is then the
            number of its workers; None takes what it says. A run that kills its worker three times is a failure in the
            report; after a `ProcessPoolExecutor` lost a process, so is every run that was left.
        storage_options: for an address, the options of its file system, as fsspec takes them; also for the baseline's.
        cache: as in `read_run`.

    Returns:
        The findings in each run; and, in `failures`, the files and directories that could not be read.

    Raises:
        FileNotFoundError: the path does not exist, or there is no event file below it.
        OSError: nothing below the path, or a part of the baseline, can be read.
        TypeError: `config` is none of the above.
        ConfigError: the configuration has an unknown key or code, or an invalid value. A ValueError.
        ValueError: `jobs` is less than 1.
        KeyboardInterrupt: by Ctrl-C; its attribute `report` has the runs that had been audited.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(300):
    ...         writer.add_scalar("train/loss", 2.3 + 0.01 * (step % 3), step)
    >>> for finding in audit(writer.get_logdir()).findings:
    ...     print(finding.code, finding.severity.name, finding.tag, finding.steps)
    GL303 WARNING train/loss (0, 299)
    """
    from summaries.auditing.config import as_config  # noqa: PLC0415 - a program that only logs needs no rules
    from summaries.auditing.discovery import baseline_below, runs_below  # noqa: PLC0415
    from summaries.auditing.engine import audit_runs  # noqa: PLC0415
    from summaries.auditing.reports import Report  # noqa: PLC0415
    from summaries.storage.credentials import without_credentials  # noqa: PLC0415

    config = as_config(config)
    access: Access = {"storage_options": storage_options, "cache": cache}
    runs, others = runs_below(path, **access), baseline_below(baseline, **access)
    reports = audit_runs(runs, config, others, jobs=jobs, executor=executor)
    return Report(reports, without_credentials(os.fspath(baseline)) if baseline is not None else "")


def compare(
    path: str | os.PathLike[str],
    config: Config | Mapping[str, object] | str | os.PathLike[str] | None = None,
    *,
    by: Sequence[str] = (),
    metric: str | None = None,
    maximize: bool = False,
    table: str | os.PathLike[str] | None = None,
    good: Sequence[str] = (),
    bad: Sequence[str] = (),
    executor: Executor | None = None,
    storage_options: Mapping[str, object] | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Comparison:
    """Put the runs below a directory beside each other: groups, what separates them, outliers, seeds that disagree.

    Hyperparameters come from a table, from names such as `lr=0.1_bs=32`, and from the hparams dashboard, in this order
    of precedence. Runs that differ in nothing but a seed are a group; runs without hyperparameters are grouped by their
    names without a number at the end.

    Args:
        path: a directory of runs; a local path, or an address that fsspec knows, such as `s3://…`.
        config: as in `audit`: what tags mean, and which runs are ranks of one job.
        by: the hyperparameters to group by; empty for all that vary.
        metric: the tag to compare by; None takes the main loss of most runs, or its validation if as many have it.
        maximize: whether larger values of the metric are better.
        table: a CSV file: a column `run`, columns of hyperparameters, and perhaps a column `label` with good or bad.
        good: shell patterns for the names of runs that are good.
        bad: the same for bad ones. If there are only good or only bad ones, all other runs are the others. Marked runs
            teach which of the losses tells good from bad, and that loss becomes the metric.
        executor: where to read the runs, as in `audit`; None reads them in this thread.
        storage_options: for an address, the options of its file system, as fsspec takes them.
        cache: as in `read_run`.

    Returns:
        The comparison.

    Raises:
        FileNotFoundError: the path or the table does not exist, or there is no event file.
        ValueError: no run has the metric, a hyperparameter in `by` is unknown, or the marks contradict each other.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter
    >>> directory = tempfile.mkdtemp()
    >>> for rate in (0.1, 0.01):
    ...     for seed in range(3):
    ...         with SummaryWriter(os.path.join(directory, f"lr={rate}_seed={seed}")) as writer:
    ...             for step in range(50):
    ...                 writer.add_scalar("val/loss", rate + 0.001 * seed + 0.9**step, step)
    >>> for group in compare(directory).groups:
    ...     print(dict(group.hyperparameters), round(group.final.mean, 3), group.final.runs)
    {'lr': 0.01} 0.018 3
    {'lr': 0.1} 0.108 3
    """
    from summaries.auditing.comparison import compare_runs  # noqa: PLC0415 - a program that only logs needs no rules
    from summaries.auditing.config import as_config  # noqa: PLC0415

    return compare_runs(
        path,
        as_config(config),
        by=by,
        metric=metric,
        maximize=maximize,
        table=table,
        good=good,
        bad=bad,
        jobs=1 if executor is None else None,
        executor=executor,
        storage_options=storage_options,
        cache=cache,
    )
