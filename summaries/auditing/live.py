"""Live audits: the rules over what a training loop logs, while it logs it, for early stopping.

    from summaries.auditing.live import LiveAudit

    live = LiveAudit()
    for step in range(steps):
        loss = train_step()
        live.observe(step, {"train/loss": loss})
        if step % 500 == 0 and live.failed:
            break

Nothing is read from files: a loop gives its values to `observe`, or logs with a writer that `watching` has wrapped.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from summaries.auditing.config import as_config
from summaries.auditing.engine import audit_run
from summaries.auditing.episodes import Episodes
from summaries.reading.growing import GrowingRun

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from summaries.auditing.config import Config
    from summaries.auditing.findings import Finding, RunReport
    from summaries.writing.summary_writer import SummaryWriter

__all__ = ["LiveAudit", "WatchedWriter"]


class LiveAudit:
    """An audit of a run that is going on in this program.

    To observe a value takes about a microsecond. An audit looks at all values so far, and happens when `findings`,
    `new` or `failed` is asked for after something was observed: once in a while, not at every step.

    Args:
        config: as in `summaries.audit`.
        run: the name of the run, for its findings.

    Raises:
        ConfigError: the configuration is invalid.

    >>> live = LiveAudit()
    >>> for step in range(300):
    ...     live.observe(step, {"train/loss": 0.99**step if step < 200 else 0.1 + (step - 200) / 10})
    >>> live.failed, [(finding.code, finding.tag) for finding in live.findings]
    (True, [('GL304', 'train/loss')])
    """

    def __init__(
        self, config: Config | Mapping[str, object] | str | os.PathLike[str] | None = None, *, run: str = "live"
    ) -> None:
        self._config = as_config(config)
        self._name = run
        self._growing = GrowingRun()
        self._report: RunReport | None = None
        self._episodes = Episodes()

    def observe(self, step: int, values: Mapping[str, float], wall_time: float | None = None) -> None:
        """Take the values of one step.

        Args:
            step: the step.
            values: tag → value: a number, or an array of one element.
            wall_time: in seconds since the epoch; None for now.

        Raises:
            TypeError: a value is not a number.
        """
        now = time.time() if wall_time is None else wall_time
        for tag, value in values.items():
            with np.errstate(over="ignore"):  # as in a file, whose values are float32
                self._growing.add(tag, step, now, float(np.float32(value)))
        self._report = None

    def watching(self, writer: SummaryWriter) -> WatchedWriter:
        """Wrap a writer: the scalars that are logged with it are observed, too."""
        return WatchedWriter(writer, self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings in what was observed, worst first."""
        if self._report is None:
            self._report = audit_run(self._name, self._growing.columns(), self._config, stretches=1)
        return self._report.findings

    @property
    def failed(self) -> bool:
        """Whether a finding is at or above the configuration's `fail-on`, which is an error by default."""
        return any(self._config.fails(finding.severity) for finding in self.findings)

    def new(self) -> tuple[Finding, ...]:
        """The findings that this method has not returned before, have become worse, or had ended and came back."""
        findings = self.findings
        assert self._report is not None
        return tuple(self._episodes.new(findings, self._report.steps))


class WatchedWriter:
    """A `SummaryWriter` whose scalars are observed by a `LiveAudit`; every other method is the writer's own.

    >>> import tempfile
    >>> from summaries import SummaryWriter
    >>> live = LiveAudit()
    >>> with live.watching(SummaryWriter(tempfile.mkdtemp())) as writer:
    ...     for step in range(100):
    ...         writer.add_scalar("train/loss", 2.3 + 0.01 * (step % 3), step)
    >>> [finding.code for finding in live.findings]
    ['GL303']
    """

    def __init__(self, writer: SummaryWriter, live: LiveAudit) -> None:
        self._writer = writer
        self._live = live

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: float | None = None, **options: Any
    ) -> None:
        """Log a scalar, and observe it if it has a step."""
        self._writer.add_scalar(tag, scalar_value, global_step, walltime, **options)
        if global_step is not None:
            self._live.observe(global_step, {tag: scalar_value}, walltime)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._writer.__exit__(*error)
