"""Report: what an audit found in all runs, and the forms that it takes in Python: page, JSON, a table in a notebook."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from summaries.auditing.findings import counts
from summaries.storage.files import write_file
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.auditing.findings import Failure, Finding, RunReport, Severity

__all__ = ["Report"]


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """What an audit found. In a notebook it is shown as a table; `show` shows the page with all curves.

    Attributes:
        runs: sorted by name. Of more than 10,000 runs, they are kept on disk, and each is read when it is asked for.
        baseline: the path or address of the baseline that they were compared with; "" if there is none.
    """

    runs: Sequence[RunReport]
    baseline: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings in all runs."""
        return tuple(finding for run in self.runs for finding in run.findings)

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What could not be audited in all runs."""
        return tuple(failure for run in self.runs for failure in run.failures)

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst finding; None if there are no findings."""
        return max((run.worst for run in self.runs if run.worst is not None), default=None)

    def __repr__(self) -> str:
        parts = [counted(len(self.runs), "run"), counts(self.findings) or "nothing found"]
        parts += [f"{counted(len(self.failures), 'part')} not audited"] * bool(self.failures)
        return f"Report({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from summaries.auditing.report.notebook import report_html  # noqa: PLC0415 - for notebooks only

        return report_html(self)

    def show(self, height: int = 720) -> None:
        """Show the page in a notebook. Elsewhere, write it to a temporary file, and print where that is.

        Args:
            height: of the page in the notebook, in pixels.

        Raises:
            ValueError: `height` is less than 1.
        """
        from summaries.auditing.report.notebook import show  # noqa: PLC0415 - for notebooks only

        show(repr(self), self._page(), height)

    def _page(self) -> str:
        """What `gradledger audit --format html` writes."""
        from summaries.auditing.report.html import html  # noqa: PLC0415 - it imports markdown-it
        from summaries.auditing.rules import handbook  # noqa: PLC0415 - a report may be read without the rules

        codes = sorted({finding.code for finding in self.findings})
        return html(self, {code: handbook.page(code) for code in codes})

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return the page with all curves, or write it to a file: one that needs no network and no other file.

        Args:
            path: the file, or an address that fsspec knows; it is replaced at once, when the page is complete.

        Returns:
            The text of the page if there is no path, else None.

        Raises:
            OSError: the file cannot be written.
        """
        return _written(self._page(), path)

    @overload
    def to_json(self, path: None = None) -> str: ...

    @overload
    def to_json(self, path: str | os.PathLike[str]) -> None: ...

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Return what `gradledger audit --format json` writes, or write it to a file.

        Args:
            path: the file; None returns the text.

        Raises:
            OSError: the file cannot be written.
        """
        from summaries.auditing.report.json import json  # noqa: PLC0415 - few reports become JSON

        return _written(json(self), path)


def _written(text: str, path: str | os.PathLike[str] | None) -> str | None:
    """The text itself; or None, when it is in the file."""
    if path is None:
        return text
    write_file(os.fspath(path), text.encode("utf-8", "backslashreplace"))
    return None
