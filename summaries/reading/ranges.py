"""One huge file, read as many ranges at the same time: the result is that of one read, wherever the file is cut.

    file ─┬─ head ───────────────────────────────▶ collector ─▶ tags, which the readers of the ranges begin with
          ├─ range ─▶ part ─┐                          ▲
          ├─ range ─▶ part ─┼─ in order, if it is right ┘
          └─ range ─▶ part ─┘   else the collector reads the range; also if no other thread has begun it

Strategy: a file can be cut anywhere, because the parser finds the next record by itself. But only who has read
everything before a range knows where its first record begins, since what looks like a record may be in another one's
data; and what its tags mean, since a tag's first metadata decides that. So the reader of a range guesses both. Where
the part before ends, and what was read until there, shows whether it was right. If not, which is rare, the collector
reads the range again. A parser's items depend on nothing but where it stands between two of them, so two readers that
once stand at the same offset go on alike.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from summaries.execution.tasks import Died, run_tasks
from summaries.patterns import matcher
from summaries.reading.collector import Collector, is_scalars
from summaries.reading.columns import LaterPoints
from summaries.reading.rows import workspace
from summaries.wire.batches import BatchParser
from summaries.wire.layout import CLASS_SCALAR, KIND_TENSOR

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from summaries.errors import Fault
    from summaries.patterns import Patterns
    from summaries.reading.collector import NonSummaryEvent
    from summaries.storage.protocols import StoredFile
    from summaries.wire.pb import SessionLog, SummaryMetadata

__all__ = ["CUT_BYTES", "FileRange", "InRanges", "Part", "read_range"]

CUT_BYTES = 10**9
"""A smaller file is read as a whole: it takes about a second, and is as large as the other tasks of an executor."""

_RANGE_BYTES = 64 << 20  # large enough for what each range costs, and many, so that no thread waits long at the end
_HEAD_BYTES = 1 << 20  # shows nearly all tags, with their metadata, in a few milliseconds
_LEAD_BYTES = 1 << 12  # longer than most damage; what is behind it is parsed under the interpreter's lock
_LEAST_FETCHED, _MOST_FETCHED = 1 << 13, 4 << 20


@dataclass(frozen=True, slots=True)
class Given:
    """What the reader of a range begins with.

    Attributes:
        names: the tags before the ranges, by number.
        metadata: the first metadata of those that have one.
        wanted: which tags to read: patterns of their names; None means all.
        fast: whether to use the compiled scanner.
    """

    names: Sequence[str]
    metadata: Mapping[str, SummaryMetadata]
    wanted: Sequence[str] | None
    fast: bool


@dataclass(frozen=True, slots=True)
class FileRange:
    """A range of a file to read: the records and faults that begin in it. It is picklable.

    Attributes:
        file: the file.
        first: an offset at or before `begin` at which a record or a fault is known to begin, in bytes.
        begin: where the range begins, in bytes.
        stop: where it ends; None: at the file's current end.
        given: what else its reader has to know.
    """

    file: StoredFile
    first: int
    begin: int
    stop: int | None
    given: Given


@dataclass(frozen=True, slots=True)
class Part:
    """What was read of a range, as in a `Collector`: its records, tags, marks and epochs are numbered from 0.

    Attributes:
        begin: where its first record or fault begins, in bytes.
        end: where the first one behind it begins.
        version: the version in its first record, or "".
        records: its number of whole records.
        names: its tags by number, and first those that were known.
        metadata: the first metadata of those that have one.
    """

    begin: int
    end: int
    version: str
    records: int
    names: Sequence[str]
    metadata: Mapping[str, SummaryMetadata]
    points: LaterPoints
    places: Sequence[NDArray[np.void]]
    starts: Sequence[tuple[int, int]]
    session_logs: Sequence[tuple[int, float, SessionLog]]
    non_summary_events: Sequence[NonSummaryEvent]
    faults: Sequence[Fault]


class InRanges:
    """Reads a huge file in ranges, several at a time; any other as a whole.

    Args:
        tags: which tags are wanted: patterns of their names; None means all.
        threads: how many ranges to read at a time, with this thread; they only help with the compiled scanner.
        executor: where to read them instead.

    Attributes:
        wanted: whether a tag is wanted; None for every tag.
    """

    def __init__(self, tags: Patterns = None, threads: int = 1, executor: Executor | None = None) -> None:
        self._tags = (tags,) if isinstance(tags, str) else tags if tags is None else tuple(tags)
        self.wanted = None if self._tags is None else matcher(self._tags)
        self._threads = threads
        self._executor = executor

    def __call__(self, collector: Collector, file: StoredFile, start: int) -> int:
        """Read a file from an offset to its end, which is returned."""
        alone = self._executor is None and (self._threads == 1 or not collector.fast)
        if alone or file.size - start < CUT_BYTES:
            return collector.read_part(file, start)
        end = collector.read_part(file, start, start + _HEAD_BYTES)
        given = Given(collector.names(), collector.metadata(), self._tags, collector.fast)
        ranges = [FileRange(file, end, *cut, given) for cut in _cuts(end, file.size)]
        parts = _in_threads(ranges, self._threads) if self._executor is None else _on_executor(ranges, self._executor)
        with closing(parts):  # what has not begun is cancelled if this fails
            for one, part in parts:
                if end >= (file.size if one.stop is None else one.stop):
                    continue  # what began before it spans it
                if part is not None and part.begin == end and _fits(collector, part):
                    collector.absorb(part)
                    end = part.end
                else:
                    end = collector.read_part(file, end, one.stop)
        return end


def _in_threads(ranges: Sequence[FileRange], threads: int) -> Generator[tuple[FileRange, Part | None]]:
    """The ranges with their parts, in order; None for those that no other thread has begun when their turn comes.

    The caller reads these straight into the columns, which takes less time than to read a part and to join it. For that
    it is left every third range if there are two threads: as much as it can read while it joins the parts of the other.
    Of these ranges, threads that have nothing else to do take the last ones.
    """
    period = threads + 1
    left, others = ranges[::period], [one for i, one in enumerate(ranges) if i % period]
    pool = ThreadPoolExecutor(threads - 1)
    try:
        futures = {one.begin: pool.submit(read_range, one) for one in chain(others, reversed(left))}
        for one in ranges:
            future = futures.pop(one.begin)
            yield one, None if future.cancel() else future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _on_executor(ranges: Sequence[FileRange], executor: Executor) -> Generator[tuple[FileRange, Part | None]]:
    """The ranges with their parts, in order; a part that its worker did not live to send is None."""
    done: dict[int, Part | None] = {}
    with closing(run_tasks(read_range, ranges, executor=executor, size=lambda _: _RANGE_BYTES)) as results:
        for one in ranges:
            while one.begin not in done:
                found, part = next(results)
                done[found.begin] = None if isinstance(part, Died) else part
            yield one, done.pop(one.begin)


def _cuts(start: int, end: int) -> Iterator[tuple[int, int | None]]:
    """Cut a file into even ranges; the last one ends where the file then ends."""
    count = -(-(end - start) // _RANGE_BYTES)
    cuts = [start + (end - start) * i // count for i in range(count)]
    return zip(cuts, [*cuts[1:], None], strict=True)


def read_range(one: FileRange) -> Part | None:
    """Read a range of a file; None if no record or fault seems to begin in it.

    Raises:
        OSError: the file cannot be read, or was replaced.
    """
    begin = _first_in(one)
    if begin is None:
        return None
    given = one.given
    collector = Collector(workspace(), fast=given.fast, wanted=None if given.wanted is None else matcher(given.wanted))
    collector.rows.points = points = LaterPoints()
    collector.know(given.names, given.metadata)
    collector.begin(one.file)
    end = collector.read_part(one.file, begin, one.stop)
    return Part(
        begin,
        end,
        collector.versions[0],
        collector.records[0],
        collector.names(),
        collector.metadata(),
        points,
        collector.rows.settled_places,
        collector.starts,
        collector.session_logs,
        collector.non_summary_events,
        collector.faults,
    )


def _first_in(one: FileRange) -> int | None:
    """Where the first record or fault of a range begins, as it seems to a reader that began shortly before."""
    at = max(one.begin - _LEAD_BYTES, one.first)
    parser = BatchParser(at, stop=one.begin)
    size = _LEAST_FETCHED
    with one.file.open() as opened:
        while parser.stopped is None and (one.stop is None or at < one.stop):
            data = opened.read_range(at, size)
            at, size = at + len(data), min(4 * size, _MOST_FETCHED)
            for _ in parser.feed(data) if data else parser.close():
                pass
            if not data:
                break
    return parser.stopped


def _fits(collector: Collector, part: Part) -> bool:
    """Whether a part is what the collector would have read: its tags had the meaning that they have there.

    The class of a tag, which its first metadata determines, decides whether its tensors are scalars.
    """
    scalars = []
    for number, name in enumerate(part.names):
        own = collector.tags.get(name)
        if own is None or own.metadata is None:
            continue  # the part has the first metadata, or there is none
        if own.tag_class == CLASS_SCALAR:
            scalars.append(number)
        elif name in part.metadata and is_scalars(part.metadata[name]):
            return False
    return not any(
        np.isin(places["tag"][places["kind"] == KIND_TENSOR], scalars).any() for places in part.places if scalars
    )
