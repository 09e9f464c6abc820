"""Scalars as tables for Arrow, pandas and Polars, long or wide; each library is imported only when it is used.

runs ──▶ columns: labels, numbers, numbers with gaps ──▶ Arrow ──▶ Polars
                                                     └─▶ pandas
"""

from __future__ import annotations

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
    from summaries.presenting.wide import WideRows
    from summaries.reading.series import Series

    Scalars = Mapping[str, Series]
    """Tag → Series."""

    Runs = Mapping[str | None, Scalars]
    """The scalars of each run, by its name; the name None if there is only one run, and tables do not name it."""

    Columns = Mapping[str, Any]
    """Name → column: an array, or what is not one."""

__all__ = [
    "Labels",
    "arrow_table",
    "chosen",
    "long_columns",
    "pandas_frame",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "unicode",
    "wide_columns",
]


class Labels(NamedTuple):
    """Text that repeats: int32[n], and the text of each code."""

    codes: NDArray[np.int32]
    names: list[str]


class _Gaps(NamedTuple):
    """Numbers, some of which are missing: float64[n], NaN where bool[n] says so."""

    value: NDArray[np.float64]
    missing: NDArray[np.bool_]


def to_arrow(runs: Runs, wide: bool, latest: bool, tags: Patterns) -> pa.Table:
    """See `Run.to_arrow`."""
    return arrow_table(_columns(runs, wide=wide, latest=latest, tags=tags))


def to_pandas(runs: Runs, wide: bool, latest: bool, tags: Patterns) -> pd.DataFrame:
    """See `Run.to_pandas`."""
    return pandas_frame(_columns(runs, wide=wide, latest=latest, tags=tags))


def to_polars(runs: Runs, wide: bool, latest: bool, tags: Patterns) -> pl.DataFrame:
    """See `Run.to_polars`."""
    polars = needs("polars", "polars")
    return polars.from_arrow(to_arrow(runs, wide, latest, tags))


def unicode(name: str) -> str:
    r"""A name as valid Unicode, which tables ask for: bytes of a file's name that are not text become escapes.

    >>> unicode("loss"), unicode("run\udcff")
    ('loss', 'run\\udcff')
    """
    return name.encode("utf-8", "backslashreplace").decode()


def chosen(scalars: Scalars, wanted: Callable[[str], bool], *, latest: bool) -> dict[str, Series]:
    """The scalars of the wanted tags, without what a restart superseded if `latest` is True."""
    return {tag: series.latest() if latest else series for tag, series in scalars.items() if wanted(tag)}


def _columns(runs: Runs, *, wide: bool, latest: bool, tags: Patterns) -> Columns:
    wanted = matcher(tags)
    runs = {name: chosen(scalars, wanted, latest=latest) for name, scalars in runs.items()}
    if not wide:
        return long_columns(runs)
    names = list(dict.fromkeys(tag for scalars in runs.values() for tag in scalars))
    return wide_columns({name: WideRun(scalars, names).rows() for name, scalars in runs.items()}, names)


def long_columns(runs: Runs) -> Columns:
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


def wide_columns(runs: Mapping[str | None, WideRows], tags: Sequence[str]) -> Columns:
    """The columns of a wide table: step, wall_time and each tag, with the run before them if it has a name."""
    every = runs.values()
    values = (_joined([rows.value[i] for rows in every], np.float64) for i in range(len(tags)))
    missing = (_joined([rows.missing[i] for rows in every], np.bool_) for i in range(len(tags)))
    return {
        **_run_column(runs, (len(rows.step) for rows in every)),
        "step": _joined([rows.step for rows in every], np.int64),
        "wall_time": _joined([rows.wall_time for rows in every], np.float64),
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
