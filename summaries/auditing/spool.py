"""Reports of very many runs, on disk: memory holds where each lies, and the one that is being looked at."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

from summaries.auditing.incidents import without_repeats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.auditing.findings import RunReport

__all__ = ["Ordered", "Spool"]


class Spool(Mapping[str, "RunReport"]):
    """Reports by the name of their run, in a temporary file that has no name and vanishes with this object."""

    def __init__(self) -> None:
        import tempfile  # noqa: PLC0415 - few audits have so many runs

        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it is open as long as the spool lives
        weakref.finalize(self, self._file.close)
        self._offsets: dict[str, int] = {}

    def __setitem__(self, name: str, report: RunReport) -> None:
        """Keep a report; one that had this name before is no longer found."""
        self._offsets[name] = self._file.seek(0, 2)
        pickle.dump(report, self._file, protocol=pickle.HIGHEST_PROTOCOL)

    def __getitem__(self, name: str) -> RunReport:
        self._file.seek(self._offsets[name])
        report: RunReport = pickle.load(self._file)  # noqa: S301 - our own
        return report

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)


class Ordered(Sequence["RunReport"]):
    """The reports of runs in the order of their names, each made when it is asked for.

    Args:
        names: the names of the runs.
        reports: their reports, by name.
    """

    def __init__(self, names: Sequence[str], reports: Mapping[str, RunReport]) -> None:
        self._names = names
        self._reports = reports

    @overload
    def __getitem__(self, index: int) -> RunReport: ...

    @overload
    def __getitem__(self, index: slice) -> Ordered: ...

    def __getitem__(self, index: int | slice) -> RunReport | Ordered:
        if isinstance(index, slice):
            return Ordered(self._names[index], self._reports)
        return without_repeats(self._reports[self._names[index]], self._reports)

    def __len__(self) -> int:
        return len(self._names)
