"""Columns → long tables for Arrow and pandas, which are imported only when used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    import pyarrow as pa
    from numpy.typing import NDArray

    from summaries.reading.series import Series

__all__ = [
    "arrow_table",
    "arrow_table_of_runs",
    "missing",
    "pandas_frame",
    "pandas_frame_of_columns",
    "pandas_frame_of_runs",
    "pyarrow",
]


def missing(name: str) -> ImportError:
    """The error for a library that is not installed."""
    return ImportError(f"this needs {name}: pip install 'gradledger[export]'")


def pyarrow() -> Any:
    """Import and return pyarrow.

    Raises:
        ImportError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - large and optional
    except ImportError:
        raise missing("pyarrow") from None
    return pa


def arrow_table(scalars: Mapping[str, Series]) -> pa.Table:
    """The scalars as a table with the columns tag, step, wall_time, value, one tag after another."""
    pa = pyarrow()
    return pa.table({"tag": _labels(pa, scalars, map(len, scalars.values())), **_columns(scalars.values())})


def arrow_table_of_runs(runs: Mapping[str, Mapping[str, Series]]) -> pa.Table:
    """The scalars as a table with the columns run, tag, step, wall_time, value, one run and tag after another."""
    pa = pyarrow()
    tags = list(dict.fromkeys(tag for scalars in runs.values() for tag in scalars))
    number = {tag: i for i, tag in enumerate(tags)}
    every = [series for scalars in runs.values() for series in scalars.values()]
    lengths = [len(series) for series in every]
    indices = np.repeat(np.array([number[series.tag] for series in every], np.int32), lengths)
    return pa.table(
        {
            "run": _labels(pa, runs, (sum(map(len, scalars.values())) for scalars in runs.values())),
            "tag": pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), pa.array(tags, pa.string())),
            **_columns(every),
        }
    )


def pandas_frame(scalars: Mapping[str, Series]) -> pd.DataFrame:
    """The scalars as a frame with the columns tag, step, wall_time, value."""
    pd = _pandas()
    tags = pd.Categorical.from_codes(_codes(map(len, scalars.values())), list(scalars))
    return pd.DataFrame({"tag": tags, **_columns(scalars.values())})


def pandas_frame_of_runs(runs: Mapping[str, Mapping[str, Series]]) -> pd.DataFrame:
    """The scalars as a frame with the columns run, tag, step, wall_time, value."""
    pd = _pandas()
    tags = list(dict.fromkeys(tag for scalars in runs.values() for tag in scalars))
    number = {tag: i for i, tag in enumerate(tags)}
    every = [series for scalars in runs.values() for series in scalars.values()]
    indices = np.repeat(np.array([number[series.tag] for series in every], np.int32), [len(s) for s in every])
    names = pd.Categorical.from_codes(_codes(sum(map(len, s.values())) for s in runs.values()), list(runs))
    return pd.DataFrame({"run": names, "tag": pd.Categorical.from_codes(indices, tags), **_columns(every)})


def pandas_frame_of_columns(
    tags: Sequence[str], lengths: Sequence[int], columns: Mapping[str, NDArray[np.generic]]
) -> pd.DataFrame:
    """Columns of several tags, one after another, as a frame with a categorical tag before them.

    Args:
        tags: the tags.
        lengths: for each of them, its number of rows.
        columns: name of a column → its values.
    """
    pd = _pandas()
    return pd.DataFrame({"tag": pd.Categorical.from_codes(_codes(lengths), list(tags)), **columns})


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415 - large and optional
    except ImportError:
        raise missing("pandas") from None
    return pd


def _codes(lengths: Iterable[int]) -> Any:
    counts = list(lengths)
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts)


def _labels(pa: Any, names: Iterable[str], lengths: Iterable[int]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(_codes(lengths), pa.int32()), pa.array(list(names), pa.string()))


def _columns(series: Iterable[Series]) -> dict[str, Any]:
    every = list(series)
    return {
        "step": np.concatenate([np.empty(0, np.int64), *(one.step for one in every)]),
        "wall_time": np.concatenate([np.empty(0), *(one.wall_time for one in every)]),
        "value": np.concatenate([np.empty(0), *(one.value for one in every)]),
    }
