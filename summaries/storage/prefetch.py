"""Fetches files before they are read: many ranges at a time, within one file and across files, in bounded memory.

    planned files, in order ─┐
                             ├─▶ ranges in flight ─▶ fetched bytes ─▶ the reader of each file
    open files, fair shares ─┘

While one range is scanned, the next ones arrive, so that a store's latency is paid once and not for each range. Ranges
are requested until so many bytes are in flight or wait for their reader; whenever one is read, another is requested.
The range that a reader needs now is requested whatever the number, so that no reader waits for another.
"""

from __future__ import annotations

import threading
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING

from summaries.storage.protocols import ReadableFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from summaries.storage.protocols import StoredFile

__all__ = ["AHEAD_BYTES", "RANGE_BYTES", "REQUESTS", "Prefetcher", "ScannedFile"]

RANGE_BYTES = 4 << 20
AHEAD_BYTES = 64 << 20
REQUESTS = 32
_LEAST_BYTES = 1 << 18  # a small file counts as this many, so that a bounded number of files is fetched ahead


class _Scan:
    """A file that is read from `start` to `stop`, or its end.

    Attributes:
        is_part: whether others scan other parts of the file.
        next: the start of the next range to request.
        coming: (start, number of bytes that it counts as, bytes) of the ranges that were requested and not taken yet.
        held: the number of bytes that they count as together.
        taken: the number of ranges taken.
    """

    def __init__(self, file: StoredFile, start: int, stop: int | None = None) -> None:
        self.file: StoredFile = file
        self.start: int = start
        self.next: int = start
        self.is_part: bool = stop is not None
        self.stop: int = file.size if stop is None else min(stop, file.size)
        self.coming: deque[tuple[int, int, Future[bytes]]] = deque()
        self.held: int = 0
        self.taken: int = 0

    @property
    def requested(self) -> bool:
        """Whether all its ranges were requested."""
        return self.next >= self.stop


class Prefetcher:
    """Fetches the ranges of files ahead of their readers.

    Args:
        fetch: starts to fetch the bytes of a file from one offset to another.
        confirm: called at the end of a file, or a part, that is not one range; raises if its ranges may be of different
            objects.
    """

    def __init__(
        self, fetch: Callable[[StoredFile, int, int], Future[bytes]], confirm: Callable[[StoredFile], object]
    ) -> None:
        self._fetch = fetch
        self._confirm = confirm
        self._lock = threading.Lock()
        self._planned: dict[StoredFile, _Scan] = {}
        self._waiting: deque[_Scan] = deque()  # planned, in order, from the first that is not requested completely
        self._open: list[_Scan] = []
        self._ended: deque[_Scan] = deque()
        self._held = 0

    def plan(self, files: Iterable[tuple[StoredFile, int]]) -> None:
        """Fetch these files ahead, each from its offset to its end; they will be opened in about this order."""
        with self._locked():
            for file, start in files:
                if file not in self._planned:
                    self._planned[file] = scan = _Scan(file, start)
                    self._waiting.append(scan)
            self._request()

    def forget(self, files: Iterable[StoredFile]) -> None:
        """Drop what was fetched of planned files that were not opened."""
        with self._locked():
            for file in files:
                if scan := self._planned.pop(file, None):
                    self._drop(scan)
            self._request()

    def begin(self, file: StoredFile, start: int, stop: int | None = None) -> _Scan:
        """Start to read a file, which was planned or was not, from an offset to another one or its end."""
        with self._locked():
            scan = self._planned.pop(file, None)
            if scan is None or scan.start != start or stop is not None:
                if scan is not None:
                    self._drop(scan)
                scan = _Scan(file, start, stop)
            self._open.append(scan)
            self._request()
        return scan

    def take(self, scan: _Scan) -> tuple[int, bytes]:
        """The next range of an open file: where it starts, and its bytes.

        Raises:
            OSError: it cannot be read.
        """
        with self._locked():
            if not scan.coming:
                self._submit(scan)
            start, cost, coming = scan.coming.popleft()
        try:
            data = coming.result()
        finally:
            with self._locked():
                scan.held -= cost
                self._held -= cost
                self._request()
        scan.taken += 1
        if (scan.taken > 1 or scan.is_part) and start + len(data) >= scan.stop:
            self._confirm(scan.file)
        return start, data

    def read(self, file: StoredFile, start: int, stop: int) -> bytes:
        """Read a part of a file that is not in the order of its scan."""
        return self._fetch(file, start, stop).result()

    def end(self, scan: _Scan) -> None:
        """Drop what was fetched of an open file and not read."""
        # The garbage collector may close a file at any moment, even in a thread that holds the lock.
        self._ended.append(scan)
        self._drop_ended()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            yield
        self._drop_ended()

    def _drop_ended(self) -> None:
        """Drop the scans that have ended, unless a thread holds the lock: it does so afterwards."""
        while self._ended and self._lock.acquire(blocking=False):
            try:
                while self._ended:
                    scan = self._ended.popleft()
                    if scan in self._open:
                        self._open.remove(scan)
                        self._drop(scan)
                self._request()
            finally:
                self._lock.release()

    def _drop(self, scan: _Scan) -> None:
        for _, _, coming in scan.coming:
            coming.cancel()
        scan.coming.clear()
        self._held -= scan.held
        scan.held, scan.next = 0, scan.stop

    def _request(self) -> None:
        """Request ranges while there is room: of the open file with the fewest first, then of planned ones."""
        while self._held < AHEAD_BYTES:
            unfinished = [scan for scan in self._open if not scan.requested]
            if unfinished:
                self._submit(min(unfinished, key=lambda scan: scan.held))
                continue
            while self._waiting and self._waiting[0].requested:
                self._waiting.popleft()
            if not self._waiting:
                return
            self._submit(self._waiting[0])

    def _submit(self, scan: _Scan) -> None:
        start = scan.next
        scan.next = min(start + RANGE_BYTES, scan.stop)
        cost = max(scan.next - start, _LEAST_BYTES)
        scan.coming.append((start, cost, self._fetch(scan.file, start, scan.next)))
        scan.held += cost
        self._held += cost


class ScannedFile(ReadableFile):
    """A `ReadableFile` that is read from an offset to another one or its end, for one thread at a time.

    Its two latest ranges are kept, because a reader may step back a little; further back costs a request, and so does
    what is behind the second offset.

    Args:
        prefetcher: where its ranges come from.
        file: the file as it was listed; it is read up to the size that it had then.
        start: the offset.
        stop: the other offset.
    """

    def __init__(self, prefetcher: Prefetcher, file: StoredFile, start: int, stop: int | None = None) -> None:
        self._prefetcher = prefetcher
        self._file = file
        self._scan = prefetcher.begin(file, start, stop)
        self._next = start
        self._ranges: deque[tuple[int, bytes]] = deque(maxlen=2)

    def read_range(self, start: int, size: int) -> bytes:
        """Read `size` bytes from offset `start`; fewer only at the end of the file."""
        stop = min(start + size, self._file.size)
        parts = []
        while start < stop:
            parts.append(self._part(start, stop))
            start += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_into(self, start: int, buffer: memoryview) -> int:
        """Read bytes from offset `start` into a buffer; return how many, 0 only at or after the end of the file."""
        data = self._part(start, min(start + len(buffer), self._file.size)) if start < self._file.size else b""
        buffer[: len(data)] = data
        return len(data)

    def _part(self, start: int, stop: int) -> bytes:
        """At least one byte from `start`, and none from `stop`."""
        while True:
            for at, data in self._ranges:
                if at <= start < at + len(data):
                    return data[start - at : stop - at]
            if start < self._next:
                return self._prefetcher.read(self._file, start, min(stop, self._next))
            if self._next >= self._scan.stop:
                return self._prefetcher.read(self._file, start, stop)
            fetched = self._prefetcher.take(self._scan)
            self._ranges.append(fetched)
            self._next = fetched[0] + len(fetched[1])

    def close(self) -> None:
        """Close the file; what was fetched ahead is dropped."""
        self._prefetcher.end(self._scan)
        self._ranges.clear()
