"""The scalars of runs as a Polars LazyFrame. Polars evaluates predicates, so that NaN means what it means there.

The parts of a predicate that are about the run or the tag alone, whatever they do with it, are evaluated for the names
that there are, before anything is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries.optional import needs
from summaries.presenting.tables import unicode
from summaries.tools.querying.points import SCHEMA, tables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from summaries.storage.protocols import StoredFile

__all__ = ["points_frame"]


def points_frame(runs: Mapping[str, Sequence[StoredFile]], wanted: Callable[[str], bool]) -> Any:
    """See `scan`.

    Args:
        runs: the event files of each run, in reading order.
        wanted: whether a tag is wanted.
    """
    polars: Any = needs("polars", "polars")

    def source(columns: list[str] | None, predicate: Any, most: int | None, batch_size: int | None) -> Iterator[Any]:
        asked = SCHEMA.names if columns is None else columns
        needed = {*asked, *(predicate.meta.root_names() if predicate is not None else ())}
        conditions = list(_conjuncts(predicate)) if predicate is not None else []
        of_run, of_tag = _Fulfils(polars, "run", conditions), _Fulfils(polars, "tag", conditions)
        left = [name for name in runs if of_run(unicode(name))]
        tables = tables_of(runs, left, lambda tag: wanted(tag) and of_tag(unicode(tag)), needed)
        for table in tables if most != 0 else ():
            frame = polars.from_arrow(table)
            rows = (frame if predicate is None else frame.filter(predicate)).select(asked).slice(0, most)
            yield rows
            if most is not None and not (most := most - rows.height):
                return

    schema = polars.from_arrow(SCHEMA.empty_table()).schema
    return needs("polars.io.plugins", "polars").register_io_source(source, schema=schema)


class _Fulfils:
    """Whether a name fulfils those conditions that are about one column of names alone; each is looked at once."""

    def __init__(self, polars: Any, column: str, conditions: Sequence[Any]) -> None:
        self._frame = polars.DataFrame
        self._column = column
        self._conditions = [condition for condition in conditions if condition.meta.root_names() == [column]]
        self._known: dict[str, bool] = {}

    def __call__(self, name: str) -> bool:
        if name not in self._known:
            alone = self._frame({self._column: [name]})
            self._known[name] = not self._conditions or alone.filter(*self._conditions).height > 0
        return self._known[name]


def _conjuncts(predicate: Any) -> Iterator[Any]:
    """The conditions that a predicate joins by "and"."""
    inputs = predicate.meta.pop()
    if len(inputs) == 2:  # noqa: PLR2004 - of a binary operator
        for one, other in (inputs, inputs[::-1]):
            if (one & other).meta.eq(predicate):
                yield from _conjuncts(one)
                yield from _conjuncts(other)
                return
    yield predicate
