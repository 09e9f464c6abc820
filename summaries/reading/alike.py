"""Takes the scalars of a batch that equal earlier ones in all but their numbers; the other records go to the caller.

Strategy: looking for templates costs a few hundredths of what reading a record costs, making one as much as reading
three. So every record is looked at, and templates are made on credit: a little for each record that the caller reads,
more for each that it need not read. Files without such scalars, and small ones, take as long as without this.

Pure (no I/O).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from summaries.wire.layout import CLASS_NONE, CLASS_SCALAR, CLASS_SKIPPED
from summaries.wire.templates import UNKNOWN, UNWANTED, Template, Templates, template_of

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

    from summaries.wire.batches import Batch

__all__ = ["AlikeScalars"]

_FEWEST = 512  # in fewer records than this, no template is used so often that it pays
_BLOCK = 4096  # so many records are looked at together: their arrays fit into the cache
_FEW = 128  # of unknown records in a row, so many are read before the others are looked at again
_SHORTEST_RUN = 8  # if known and unknown records take turns more often, the caller gets them all
_FIRST_CREDIT = 32.0  # templates
_FOR_READING, _FOR_MATCHING = 1 / 32, 1 / 16
_MOST_STRANGE = 4  # after so many records of one length that gave no template, others of it are not tried


class AlikeScalars:
    """The scalars of one run that equal earlier ones in all but their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._classes: list[int] = []
        self._templates = Templates()
        self._few = _FEW  # more while templates match nothing
        self._credit = _FIRST_CREDIT
        self._strange: Counter[int] = Counter()  # records that gave no template, by their length

    def add_tag(self, name: str) -> None:
        """Register the name of the next tag number."""
        self._numbers[name.encode()] = len(self._classes)
        self._classes.append(CLASS_NONE)

    def set_class(self, tag: int, tag_class: int) -> None:
        """Set a tag's class, which its first metadata determines: one of `layout.CLASS_…`."""
        self._classes[tag] = tag_class

    def split(self, batch: Batch) -> Iterator[NDArray[np.void] | Batch]:
        """Yield the batch in parts, in order: ROW[n], or records that the caller has to read before it goes on."""
        first, count = 0, len(batch)
        if count < (_FEW if self._templates else _FEWEST):
            yield batch
            return
        while first < count:
            first += yield from self._look(batch.part(first, min(count, first + _BLOCK)))

    def _look(self, block: Batch) -> Generator[NDArray[np.void] | Batch, None, int]:
        """Yield the parts of the records up to where looking again is worthwhile; return how many these are."""
        rows = self._templates.rows(block)
        known = rows["tag"] != UNKNOWN
        if self._templates:
            self._few = _FEW if known.any() else min(2 * self._few, _BLOCK)
        edges = [0, *(np.flatnonzero(np.diff(known)) + 1).tolist(), len(rows)]
        if len(edges) * _SHORTEST_RUN > len(rows):
            yield block
            self._learn([block.data[i] for i in np.flatnonzero(~known)[:_FEW].tolist()])
            return len(block)
        for first, last in pairwise(edges):
            if known[first]:
                self._credit += _FOR_MATCHING * (last - first)
                yield rows[first:last]
                continue
            few = block.part(first, min(last, first + self._few))
            yield few
            if len(few) < last - first:
                if self._learn(few.data[:_FEW]):
                    return first + len(few)
                yield block.part(first + len(few), last)
            else:
                self._learn(few.data[:_FEW])
        return len(block)

    def _learn(self, unknown: list[bytes]) -> int:
        """Make templates of records that the caller has read, as far as credit goes; return how many."""
        learned = 0
        self._credit += _FOR_READING * len(unknown)
        for data in unknown:
            if self._credit < 1:
                break
            if self._strange[len(data)] == _MOST_STRANGE or self._templates.knows(data):
                continue
            self._credit -= 1
            template = template_of(data)
            number = None if template is None else self._number_of(template)
            if template is None or number is None:
                self._strange[len(data)] += 1
            else:
                self._templates.add(template, number)
                learned += 1
        return learned

    def _number_of(self, template: Template) -> int | None:
        """The number for records that equal a template; None if the caller has to read them."""
        number = self._numbers.get(template.tag)
        if number is None:
            return None
        tag_class = self._classes[number]
        if tag_class == CLASS_SKIPPED:
            return UNWANTED
        if template.is_tensor:
            return number if tag_class == CLASS_SCALAR else None
        # The first metadata of a tag decides; the caller has to see it.
        return None if template.has_metadata and tag_class == CLASS_NONE else number
