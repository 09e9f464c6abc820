"""The library: every run below some places, read and audited in the background, and read on as it grows.

One thread reads. In TensorBoard it starts when the page is first opened. It lists the files again and again, reads
what has changed, runs that somebody waits for first, and audits it; while somebody looks at curves, or is about to, all
runs are read before the next audit, and a page is opened before it. What the table shows of a run stays in memory; its
columns stay as long as there is room, and are read again when somebody opens it.

Memory: 24 bytes for each scalar of the runs that are kept, twice that for one that grows, up to `most_bytes`; the run
that was read last is kept whatever its size. Besides, a kilobyte or two for each run, a fifth of one for each of its
tags, and half of one for each finding.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from summaries.auditing.engine import Task, audit_ranks
from summaries.auditing.findings import Failure
from summaries.auditing.incidents import without_repeats
from summaries.auditing.readable import read_readable
from summaries.auditing.signals.ranks import jobs
from summaries.integrations.tensorboard.books import Book
from summaries.integrations.tensorboard.places import listed
from summaries.storage.credentials import without_credentials
from summaries.storage.files import remembering
from summaries.storage.names import is_remote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from summaries.auditing.config import Config
    from summaries.auditing.discovery import RunFiles
    from summaries.auditing.findings import RunReport
    from summaries.integrations.tensorboard.books import Columns
    from summaries.integrations.tensorboard.places import Place
    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile

__all__ = ["Library"]

POLL_SECS = 0.5
_STORE_POLL_SECS = 2.0  # each listing of a store costs money
_SHARE = 0.25  # about this share of the time is spent on runs that grow, however many there are,
_MOST_PAUSE_SECS = 15.0  # but nobody waits longer than this to see that they have grown
_KEPT = 7 / 8  # of the memory, when there is no more: else all columns would be counted after each run
_SPARK_STRETCHES = 50  # of the curves that sparklines are made of
_LOOKING_SECS = 5.0  # who asked for curves so recently is looking at them: more of them come before verdicts
_OPENING_SECS = 0.4  # what it takes to open a page, if nobody else wants the interpreter
_logger = logging.getLogger("summaries")


class Library:
    """The runs below some places.

    Args:
        places: where to look for runs.
        config: what the audit looks for.
        most_bytes: how much memory columns may take.
        poll_secs: how long to wait between two looks at the files, in seconds; None for what the places can bear.
        share: about this share of a processor is spent on runs that grow.
        audit_secs: a run that grows is not audited again before so many seconds have passed; its points are read.

    Attributes:
        version: rises whenever something changes.
        is_reading: whether there is anything left to read.
        failures: what could not be listed.
        most_bytes: how much memory columns may take.
    """

    def __init__(
        self,
        places: Sequence[Place],
        config: Config,
        most_bytes: int,
        *,
        poll_secs: float | None = None,
        share: float = _SHARE,
        audit_secs: float = 0.0,
    ) -> None:
        self.version: int = 0
        self.is_reading: bool = True
        self.failures: tuple[Failure, ...] = ()
        self.most_bytes = most_bytes
        self._places, self._config = tuple(places), config
        usual = _STORE_POLL_SECS if any(is_remote(place.path) for place in places) else POLL_SECS
        self._poll_secs = usual if poll_secs is None else poll_secs
        self._share, self._audit_secs = share, audit_secs
        self._books: dict[str, Book] = {}
        self._gone: dict[str, int] = {}  # name → the version in which it went
        self._wanted: dict[str, bool] = {}  # who is waited for, and whether for the report as well
        self._looked = self._opened = -math.inf  # when curves, and a page, were asked for last, on the monotonic clock
        self._is_full = False  # whether the columns of all runs are more than may be kept
        self._spare = most_bytes  # so many bytes of columns may be read before all are counted, which takes long
        self._changed = threading.Condition()
        self._task = Task(config, (), _SPARK_STRETCHES, self._read)
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def start(self, *, is_looked_at: bool = False) -> None:
        """Start to read, if that has not happened yet; all runs before the first audit if somebody is about to look."""
        if is_looked_at:
            self._looked = time.monotonic()
        with self._changed:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="gradledger", daemon=True)
                self._thread.start()

    def make_way(self) -> None:
        """Audit nothing for a moment: somebody opens the page."""
        self._opened = time.monotonic()

    def close(self) -> None:
        """Look no more, from the next pause on; what was read stays."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def since(self, version: int) -> tuple[list[Book], list[str]]:
        """The runs that have changed since a version, and the names of those that have gone since; -1 for all."""
        with self._changed:
            changed = [book for book in self._books.values() if book.version > version]
            return changed, [name for name, went in self._gone.items() if went > version]

    def changed(self, version: int, timeout_secs: float) -> None:
        """Return when the version is another one, or so many seconds are over."""
        with self._changed:
            self._changed.wait_for(lambda: self.version != version, timeout_secs)

    @property
    def tagged(self) -> int:
        """The version in which a run had other tags, or went with its own."""
        with self._changed:
            return max([book.tagged for book in self._books.values()] + list(self._gone.values()), default=0)

    def names(self) -> list[str]:
        """The names of all runs."""
        with self._changed:
            return list(self._books)

    def book(self, name: str, timeout_secs: float = 30.0, *, is_judged: bool = True) -> Book:
        """A run with its columns, which are read first if they are not in memory; and with its report.

        Args:
            name: the name of the run.
            timeout_secs: how long to wait, in seconds.
            is_judged: whether to wait for the report, which may take several times as long.

        Raises:
            LookupError: there is no such run.
            OSError: nothing of it can be read.
            TimeoutError: it is still being read.
        """
        self.start()
        deadline = time.monotonic() + timeout_secs
        with self._changed:
            while True:
                book = self._books.get(name)
                if book is None and self.version > 0:
                    raise LookupError(f"there is no run {name!r}")
                if book is not None and book.is_ready(is_judged=is_judged):
                    book.used = time.monotonic()
                    return book
                if book is not None and book.is_unreadable:
                    raise OSError(f"nothing of run {name!r} can be read")
                if self._wanted.get(name) not in {True, is_judged}:
                    self._wanted[name] = is_judged
                    self._changed.notify_all()
                if not self._changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"run {name!r} is still being read")

    def columns(self, name: str) -> Columns:
        """The columns of a run, as soon as they are read; see `book`."""
        self._looked = time.monotonic()
        return self.book(name, is_judged=False).held

    def readable(self, names: Iterable[str]) -> Iterator[Columns]:
        """The columns of those of some runs of which anything can be read; see `columns`."""
        for name in names:
            try:
                columns = self.columns(name)
            except TimeoutError:
                raise
            except OSError:  # its row says why
                continue
            yield columns

    def settled(self, timeout_secs: float | None = None) -> bool:
        """Start to read, and wait until every run was read and audited, or so many seconds are over; whether it was."""
        self.start()
        with self._changed:
            return self._changed.wait_for(lambda: self.version > 0 and not self.is_reading, timeout_secs)

    @property
    def shown_places(self) -> tuple[str, ...]:
        """The paths and addresses of the places, without credentials."""
        return tuple(without_credentials(place.path) for place in self._places)

    @property
    def bytes(self) -> int:
        """How much memory columns take."""
        with self._changed:
            return sum(book.bytes for book in self._books.values())

    def _work(self) -> None:
        with ExitStack() as stack:
            access: list[Access] = []
            looked = False
            while not self._is_closed:
                began = time.monotonic()
                try:
                    if not access:
                        access = [stack.enter_context(remembering(place.path)) for place in self._places]
                    self._look(access)
                except Exception as error:
                    _logger.exception("gradledger cannot look at the runs")
                    self._publish(failures=(Failure("", "", str(error)),))
                spent = time.monotonic() - began if looked else 0.0  # the first time is not about what grows
                looked = True
                longest = _MOST_PAUSE_SECS * _SHARE / self._share
                self._pause(max(self._poll_secs, min(spent / self._share - spent, longest)), deque())

    def _look(self, access: Iterable[Access]) -> None:
        """List the files, and read and audit what has changed."""
        due = self._compare(*listed(self._places, access))
        left = deque(sorted(due, key=lambda book: book.files.size))  # small ones first: they are soon done
        unread = left.copy()
        while left:
            self._read_wanted(left)
            if unread and time.monotonic() - self._looked < _LOOKING_SECS and not self._is_full:
                if (book := unread.popleft()).has_changed:
                    self._read_alone(book)
            elif len(left) < len(due) and (secs := self._opened + _OPENING_SECS - time.monotonic()) > 0:
                self._pause(secs, left)
            elif left:
                self._update(left.popleft())
        if judged := {book.name for book in due if book.is_judged}:
            self._audit_between(judged)
        self._publish(is_reading=False)

    def _pause(self, secs: float, left: deque[Book]) -> None:
        """Wait, and read meanwhile what somebody waits for; see `_read_wanted`."""
        until = time.monotonic() + secs
        while (longest := until - time.monotonic()) > 0 and not self._is_closed:
            with self._changed:
                if not (self._wanted or self._is_closed):
                    self._changed.wait(longest)
            self._read_wanted(left)

    def _read_wanted(self, left: deque[Book]) -> None:
        """Read the runs that somebody waits for; take those that are audited out of those that are left."""
        with self._changed:
            wanted = [(self._books[name], is_judged) for name, is_judged in self._wanted.items() if name in self._books]
            self._wanted.clear()
        for book, is_judged in wanted:
            if not book.is_ready(is_judged=is_judged):  # it may be by now
                needs_report = is_judged and book.report is None
                if needs_report and book in left:
                    left.remove(book)
                self._update(book, is_judged=needs_report)

    def _compare(self, found: dict[str, RunFiles], failures: tuple[Failure, ...]) -> list[Book]:
        """Take over what was listed; return the runs that are new, or whose files have changed."""
        with self._changed:
            known = self._books
            self._books = {name: known.get(name) or Book(files) for name, files in found.items()}
            overdue = time.monotonic() - self._audit_secs
            due = [
                book
                for book in self._books.values()
                if book.report is None
                or book.files != found[book.name]
                or (not book.is_judged and book.judged < overdue)
            ]
            gone = known.keys() - found.keys()
            if due or gone or failures != self.failures or self.version == 0:
                self.version += 1
                self.is_reading = bool(due)
            for book in due:
                book.files = found[book.name]
                book.version = self.version
            self._gone.update(dict.fromkeys(gone, self.version))
            for name in found.keys() & self._gone.keys():
                del self._gone[name]
            self.failures = failures
            self._changed.notify_all()
            return due

    def _update(self, book: Book, *, is_judged: bool = True) -> None:
        """Read what is new in a run; audit it, if that is wanted, and was not done only just now."""
        now = time.monotonic()
        is_recent = book.report is not None and book.columns is not None and now - book.judged < self._audit_secs
        if is_recent:
            book.is_judged = False  # before anybody can see points that it is not about
        if (is_recent or not is_judged) and self._read_alone(book):
            return
        spread = 0.0 if book.judged else hash(book.name) % 97 / 97  # else all would be due at once, again and again
        report = self._task(book.files)
        book.is_judged, book.judged = True, now - spread * self._audit_secs
        kept = tuple(curve for curve in report.curves if curve is report.main_curve or curve.role == "global_norm")
        with self._changed:
            self._shelve(book, replace(report, curves=kept))
            self._put_back(book)

    def _read_alone(self, book: Book) -> bool:
        """Read what is new in a run, without an audit; whether any of it can be read. If not, the audit says why."""
        if book.has_changed and book.report is not None:
            book.is_judged = False
        try:
            run, _ = self._read_columns(book)
            if book.has_new_points:
                book.describe()
        except Exception:  # noqa: BLE001 - the audit tells it as well
            return False
        with self._changed:
            if book.has_new_points:
                self._shelve(book, book.report)
            self._put_back(book)
        return run is not None

    def _put_back(self, book: Book) -> None:
        book.used = time.monotonic()
        self._make_room(book)
        self._changed.notify_all()

    def _shelve(self, book: Book, report: RunReport | None) -> None:
        self.version += 1
        book.version, book.report = self.version, report
        if book.has_new_points:
            book.grown, book.has_new_points = self.version, False
        if book.has_new_tags:
            book.tagged, book.has_new_tags = self.version, False

    def _read(self, name: str, files: Sequence[StoredFile]) -> tuple[Run | None, tuple[Failure, ...]]:
        """Read a run for the audit: the one that is audited, or, by its files, the one that it is the validation of."""
        book = self._books.get(name)
        if book is None or book.files.files != files:
            book = next((one for one in self._books.values() if one.files.files == files), None)
        if book is None:
            return read_readable(name, files)
        read = self._read_columns(book)
        book.describe()
        return read

    def _read_columns(self, book: Book) -> tuple[Run | None, tuple[Failure, ...]]:
        before = book.bytes
        read = book.read(self._config)
        self._spare -= max(book.bytes - before, 0)
        if book.report is None:  # its curves can be looked at before it is judged
            with self._changed:
                self._shelve(book, None)
                self._changed.notify_all()
        return read

    def _make_room(self, latest: Book) -> None:
        """Let go of columns: first of the runs that nobody has looked at for the longest time."""
        if self._spare >= 0:
            return
        held = sorted((book for book in self._books.values() if book.columns is not None), key=lambda book: book.used)
        total = sum(book.bytes for book in held)
        self._is_full = total > self.most_bytes
        least = self.most_bytes * _KEPT if self._is_full else total
        for book in held:
            if total > least and book is not latest:
                total -= book.bytes
                book.let_go()
        self._spare = self.most_bytes - total

    def _audit_between(self, changed: set[str]) -> None:
        """Add what is found between the ranks of jobs, and take out of incidents what their runs tell as well."""
        for job in jobs(self._books, self._config.ranks):
            if not changed.intersection(job):
                continue
            books = [self._books[name] for name in job]
            found = audit_ranks([book.files for book in books], self._config, self._read)
            with self._changed:
                for book in books:
                    if book.report is not None:
                        self._shelve(book, book.with_job(book.report, [one for one in found if one.run == book.name]))
                self._make_room(books[0])
        reports = {name: book.report for name, book in self._books.items() if book.report is not None}
        for name, report in reports.items():
            told = without_repeats(report, reports)
            if told.findings != report.findings:
                with self._changed:
                    self._shelve(self._books[name], told)

    def _publish(self, *, is_reading: bool = False, failures: tuple[Failure, ...] | None = None) -> None:
        with self._changed:
            self.version += int(is_reading != self.is_reading or failures is not None)
            self.is_reading = is_reading
            self.failures = self.failures if failures is None else failures
            self._changed.notify_all()
