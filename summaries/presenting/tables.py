"""Scalars as tables for Arrow, pandas and Polars, long or wide; each library is imported only when it is used.

runs ──▶ columns: labels, numbers, numbers with gaps ──▶ Arrow ──▶ Polars
                                                     └─▶ pandas
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.optional import needs
from summaries.patterns import matcher
from summaries.presenting.hyperparameters import columns_of
from summaries.presenting.wide import WideRun, wide_names
from summaries.reading.stated import stated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from numpy.typing import NDArray

    from summaries.patterns import Patterns
    from summaries.presenting.wide import WideRows
    from summaries.reading.run import Run
    from summaries.reading.series import Series

    Scalars = Mapping[str, Series]
    """Tag → Series."""

    Runs = Mapping[str | None, Scalars]
    """The scalars of each run, by its name; the name None if there is only one run, and tables do not name it."""

    ReadRuns = Mapping[str | None, Run]
    """The runs themselves, likewise."""

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
    """Text that repeats: int32[n], -1 where it is missing, and the text of each code."""

    codes: NDArray[np.int32]
    names: list[str]


class _Gaps(NamedTuple):
    """Numbers, some of which are missing: float64[n], NaN where bool[n] says so."""

    value: NDArray[np.float64]
    missing: NDArray[np.bool_]


def to_arrow(runs: ReadRuns, wide: bool, latest: bool, tags: Patterns, hparams: bool) -> pa.Table:
    """See `Run.to_arrow`."""
    columns, sources = _columns(runs, wide=wide, latest=latest, tags=tags, hparams=hparams)
    table = arrow_table(columns)
    for name, source in sources.items():
        i = table.schema.get_field_index(name)
        table = table.set_column(i, table.schema.field(i).with_metadata({"source": source}), table.column(i))
    return table


def to_pandas(runs: ReadRuns, wide: bool, latest: bool, tags: Patterns, hparams: bool) -> pd.DataFrame:
    """See `Run.to_pandas`."""
    columns, sources = _columns(runs, wide=wide, latest=latest, tags=tags, hparams=hparams)
    frame = pandas_frame(columns)
    if hparams:
        frame.attrs["hparams"] = sources
    return frame


def to_polars(runs: ReadRuns, wide: bool, latest: bool, tags: Patterns, hparams: bool) -> pl.DataFrame:
    """See `Run.to_polars`."""
    polars = needs("polars", "polars")
    return polars.from_arrow(to_arrow(runs, wide, latest, tags, hparams))


def unicode(name: str) -> str:
    r"""A name as valid Unicode, which tables ask for: bytes of a file's name that are not text become escapes.

    >>> unicode("loss"), unicode("run\udcff")
    ('loss', 'run\\udcff')
    """
    return name.encode("utf-8", "backslashreplace").decode()


def chosen(scalars: Scalars, wanted: Callable[[str], bool], *, latest: bool) -> dict[str, Series]:
    """The scalars of the wanted tags, without what a restart superseded if `latest` is True."""
    return {tag: series.latest() if latest else series for tag, series in scalars.items() if wanted(tag)}


def _columns(
    read: ReadRuns, *, wide: bool, latest: bool, tags: Patterns, hparams: bool
) -> tuple[Columns, dict[str, str]]:
    """The columns of a table, and of those of hyperparameters, where they come from."""
    wanted = matcher(tags)
    runs = {name: chosen(run.scalars, wanted, latest=latest) for name, run in read.items()}
    names = list(dict.fromkeys(tag for scalars in runs.values() for tag in scalars)) if wide else []
    columns = (
        wide_columns({name: WideRun(scalars, names).rows() for name, scalars in runs.items()}, names)
        if wide
        else long_columns(runs)
    )
    return _with_hyperparameters(columns, read) if hparams else (columns, {})


def _with_hyperparameters(columns: Columns, runs: ReadRuns) -> tuple[Columns, dict[str, str]]:
    """These columns, and one for each hyperparameter, whose value stands in every row of its run; and their sources."""
    own = columns["run"].codes if "run" in columns else np.zeros(len(columns["step"]), np.int32)
    found = columns_of([stated(_directory(run) if name is None else name, run) for name, run in runs.items()])
    added: dict[str, Any] = {}
    names = wide_names([*columns, *(column.name for column in found)])[len(columns) :]
    for name, column in zip(names, found, strict=True):
        if column.numbers is not None:
            added[name] = _Gaps(column.numbers[own], np.array([text is None for text in column.texts])[own])
        else:
            number = {
                text: i for i, text in enumerate(dict.fromkeys(text for text in column.texts if text is not None))
            }
            codes = np.array([-1 if text is None else number[text] for text in column.texts], np.int32)
            added[name] = Labels(codes[own], list(number))
    sources = {name: ", ".join(column.sources) for name, column in zip(names, found, strict=True)}
    return {**columns, **added}, sources


def _directory(run: Run) -> str:
    """The name of a run's directory; "" if it has no file."""
    return os.path.basename(os.path.dirname(run.files[0])) if run.files else ""


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
            codes = pa.array(column.codes, mask=column.codes < 0 if (column.codes < 0).any() else None)
            return pa.DictionaryArray.from_arrays(codes, pa.array(column.names, pa.string()))
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
