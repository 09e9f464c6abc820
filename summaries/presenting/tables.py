"""Scalars as tables for Arrow, pandas and Polars, long or wide; each library is imported only when it is used.

runs ──▶ columns: labels, numbers, numbers with gaps ──▶ Arrow ──▶ Polars
                                                     └─▶ pandas
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.optional import needs
from summaries.patterns import matcher
from summaries.presenting.wide import WideRun, wide_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from summaries.patterns import Patterns
    from summaries.presenting.wide import Rows
    from summaries.reading.series import Series

    Scalars = Mapping[str, Series]
    """Tag → Series."""

    Columns = Mapping[str, Any]
    """Name → column: an array, or what is not one."""

__all__ = ["Labels", "Tabular", "arrow_table", "chosen", "long_columns", "pandas_frame", "unicode", "wide_columns"]


class Tabular:
    """What has scalars, and gives them as tables. `Run` and `Runs` are two such things."""

    @abstractmethod
    def _scalars_by_run(self) -> Mapping[str | None, Scalars]:
        """The scalars of each run, by its name; the name None if there is only one run, and tables do not name it."""

    def to_arrow(self, wide: bool = False, latest: bool = False, tags: Patterns = None) -> pa.Table:
        """Return the scalars as an Arrow table. Steps, times and values are not copied if there is only one tag.

        Args:
            wide: whether there is a row for each step, with the columns step, wall_time (the latest of the row), and
                one for each tag, null where a tag has no point. If a tag has several points at a step, the one that
                was written last stands. False gives a row for each point, with the columns tag, step, wall_time and
                value. With several runs, the first column of both is run.
            latest: whether to leave out the points that a restart superseded, as `Series.latest` does.
            tags: which tags to include: a shell pattern or several; None means all.

        Returns:
            A table whose run and tag are dictionary-encoded strings, step is int64, and the rest is float64; wall_time
            in seconds since the epoch.

        Raises:
            ImportError: pyarrow is missing; the message says how to install it.
        """
        return arrow_table(_columns(self._scalars_by_run(), wide=wide, latest=latest, tags=tags))

    def to_pandas(self, wide: bool = False, latest: bool = False, tags: Patterns = None) -> pd.DataFrame:
        """Return the scalars as a DataFrame: run and tag are categorical, and what is missing is NaN.

        Args:
            wide: whether a row is a step, with a column for each tag, instead of a point.
            latest: whether points that a restart superseded are left out.
            tags: which tags, by shell patterns; None for all.

        Returns:
            The columns of `to_arrow`: step int64, wall_time float64 in seconds since the epoch, values float64.

        Raises:
            ImportError: pandas is missing; the message says how to install it.

        >>> import tempfile
        >>> from summaries import SummaryWriter, read_run
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_scalar("loss", 0.5, 7)
        >>> read_run(writer.path).to_pandas()[["tag", "step", "value"]].to_dict("records")
        [{'tag': 'loss', 'step': 7, 'value': 0.5}]
        """
        return pandas_frame(_columns(self._scalars_by_run(), wide=wide, latest=latest, tags=tags))

    def to_polars(self, wide: bool = False, latest: bool = False, tags: Patterns = None) -> pl.DataFrame:
        """Return the scalars as a Polars DataFrame, which shares its memory with an Arrow table.

        Args:
            wide: whether a row is a step, with a column for each tag, instead of a point.
            latest: whether points that a restart superseded are left out.
            tags: which tags, by shell patterns; None for all.

        Returns:
            The columns of `to_arrow`.

        Raises:
            ImportError: polars or pyarrow is missing; the message says how to install it.
        """
        polars = needs("polars", "polars")
        return polars.from_arrow(self.to_arrow(wide, latest, tags))


class Labels(NamedTuple):
    """Text that repeats: int32[n], and the text of each code."""

    codes: NDArray[np.int32]
    names: list[str]


class _Gaps(NamedTuple):
    """Numbers, some of which are missing: float64[n], NaN where bool[n] says so."""

    value: NDArray[np.float64]
    missing: NDArray[np.bool_]


def unicode(name: str) -> str:
    r"""A name as valid Unicode, which tables ask for: bytes of a file's name that are not text become escapes.

    >>> unicode("loss"), unicode("run\udcff")
    ('loss', 'run\\udcff')
    """
    return name.encode("utf-8", "backslashreplace").decode()


def chosen(scalars: Scalars, wanted: Callable[[str], bool], *, latest: bool) -> dict[str, Series]:
    """The scalars of the wanted tags, without what a restart superseded if `latest` is True."""
    return {tag: series.latest() if latest else series for tag, series in scalars.items() if wanted(tag)}


def _columns(runs: Mapping[str | None, Scalars], *, wide: bool, latest: bool, tags: Patterns) -> Columns:
    wanted = matcher(tags)
    own = {name: chosen(scalars, wanted, latest=latest) for name, scalars in runs.items()}
    if not wide:
        return long_columns(own)
    names = list(dict.fromkeys(tag for scalars in own.values() for tag in scalars))
    return wide_columns({name: WideRun(scalars, names).rows() for name, scalars in own.items()}, names)


def long_columns(runs: Mapping[str | None, Scalars]) -> Columns:
    """The columns of a long table: tag, step, wall_time and value, with the run before them if it has a name."""
    number: dict[str, int] = {}
    every = [series for scalars in runs.values() for series in scalars.values()]
    codes = np.array([number.setdefault(series.tag, len(number)) for series in every], np.int32)
    return {
        **_run_column(runs, (sum(map(len, scalars.values())) for scalars in runs.values())),
        "tag": Labels(np.repeat(codes, [len(series) for series in every]), [unicode(tag) for tag in number]),
        "step": _joined([series.step for series in every], np.int64),
        "wall_time": _joined([series.wall_time for series in every], np.float64),
        "value": _joined([series.value for series in every], np.float64),
    }


def wide_columns(runs: Mapping[str | None, Rows], tags: Sequence[str]) -> Columns:
    """The columns of a wide table: step, wall_time and each tag, with the run before them if it has a name."""
    rows = runs.values()
    values = (_joined([one.value[i] for one in rows], np.float64) for i in range(len(tags)))
    missing = (_joined([one.missing[i] for one in rows], np.bool_) for i in range(len(tags)))
    return {
        **_run_column(runs, (len(one.step) for one in rows)),
        "step": _joined([one.step for one in rows], np.int64),
        "wall_time": _joined([one.wall_time for one in rows], np.float64),
        **dict(zip(wide_names(map(unicode, tags)), map(_Gaps, values, missing), strict=True)),
    }


def arrow_table(columns: Columns) -> pa.Table:
    """An Arrow table of these columns.

    Raises:
        ImportError: pyarrow is missing; the message says how to install it.
    """
    pa = needs("pyarrow", "export")

    def array(column: Any) -> Any:
        if isinstance(column, Labels):
            return pa.DictionaryArray.from_arrays(pa.array(column.codes), pa.array(column.names, pa.string()))
        if isinstance(column, _Gaps):
            return pa.array(column.value, mask=column.missing if column.missing.any() else None)
        return pa.array(column)

    return pa.table({name: array(column) for name, column in columns.items()})


def pandas_frame(columns: Columns) -> pd.DataFrame:
    """A DataFrame of these columns.

    Raises:
        ImportError: pandas is missing; the message says how to install it.
    """
    pd = needs("pandas", "export")

    def series(column: Any) -> Any:
        if isinstance(column, Labels):
            return pd.Categorical.from_codes(column.codes, pd.Index(column.names, dtype="str"))
        return column.value if isinstance(column, _Gaps) else column

    return pd.DataFrame({name: series(column) for name, column in columns.items()})


def _run_column(runs: Mapping[str | None, Any], lengths: Iterable[int]) -> dict[str, Labels]:
    if None in runs:
        return {}
    codes = np.repeat(np.arange(len(runs), dtype=np.int32), list(lengths))
    return {"run": Labels(codes, [unicode(str(name)) for name in runs])}


def _joined(arrays: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, dtype), *arrays])
