"""Hyperparameters as columns of tables: numbers, or text that repeats, and what stated them. Pure (no I/O)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from summaries.reading.stated import Stated, Value

__all__ = ["HyperparameterColumn", "columns_of"]

_PREFIX = "hparams/"


class HyperparameterColumn(NamedTuple):
    """One hyperparameter of some runs.

    Attributes:
        name: the column's: `hparams/` and the hyperparameter's.
        sources: what states it, in some run, in order of appearance.
        numbers: float64[runs], NaN where a run does not state it; None if a value is not a number.
        texts: a text for each run, None where it does not state it.
    """

    name: str
    sources: tuple[str, ...]
    numbers: NDArray[np.float64] | None
    texts: list[str | None]


def columns_of(runs: Sequence[Mapping[str, Stated]]) -> list[HyperparameterColumn]:
    """The hyperparameters that any of some runs states, in order of appearance.

    >>> from summaries.reading.stated import Stated
    >>> [column] = columns_of([{"lr": Stated(0.1, "name")}, {}])
    >>> column.name, column.sources, column.numbers
    ('hparams/lr', ('name',), array([0.1, nan]))
    """
    names = dict.fromkeys(name for run in runs for name in run)
    return [_column(name, [run.get(name) for run in runs]) for name in names]


def _column(name: str, found: list[Stated | None]) -> HyperparameterColumn:
    sources = tuple(dict.fromkeys(entry.source for entry in found if entry))
    values = [entry and entry.value for entry in found]
    numbers = None
    if all(value is None or isinstance(value, float) for value in values):
        numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    return HyperparameterColumn(_PREFIX + name, sources, numbers, [None if v is None else _text(v) for v in values])


def _text(value: Value) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "backslashreplace").decode()
