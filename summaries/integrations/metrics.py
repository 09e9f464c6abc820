"""What runs say now, as Prometheus reads it: last values, steps a second, verdicts, and the time of the last event.

    places → library, which reads and audits in the background → samples of each run, as text → one answer

The text of a run is made again only when the run has changed, so that a scrape of many runs is a matter of joining.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, NamedTuple

from summaries.auditing.config import as_config
from summaries.auditing.findings import badness
from summaries.integrations.tensorboard.application import refused
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import existing_places
from summaries.patterns import matcher
from summaries.presenting.terminal import printable
from summaries.storage.names import by_number

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from summaries.auditing.config import Config
    from summaries.auditing.findings import RunReport
    from summaries.integrations.tensorboard.books import Book
    from summaries.patterns import Patterns

__all__ = ["CONTENT_TYPE", "FAMILIES", "Metrics", "MetricsServer"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FAMILIES = {
    "gradledger_last_value": "Last value of a scalar.",
    "gradledger_last_step": "Step of the last point of a run.",
    "gradledger_steps_per_second": "Rate of the steps over the last points of a run.",
    "gradledger_last_event_timestamp_seconds": "Time of the last point of a run, in seconds since the epoch.",
    "gradledger_verdict": "Worst finding in a run: 2 an error, 1 a warning, 0 a note, -1 none.",
    "gradledger_findings": "Number of findings of a rule in a run.",
    "gradledger_failures": "Number of files and directories that cannot be read.",
    "gradledger_reading": "Whether a change of the files is still being read.",
    "gradledger_series_left_out": "Number of series whose name, as it is shown, another series has.",
}
"""Name of each metric → what it is; all are gauges."""

_LONGEST = 1000  # characters of a label
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_SOCKET_SECS = 10.0
_AUDIT_SECS = 60.0  # between two audits of a run that grows; its values are always the last ones that were read


class _Samples(NamedTuple):
    """The samples of one run in one of its states: metric → lines; how many were made, and how many are shown."""

    state: tuple[int, int]
    lines: Mapping[str, str]
    made: int
    shown: int


class Metrics:
    """The text of a library's runs, for a scraper.

    Args:
        library: the runs.
        tags: only last values of tags that match one of these patterns; None means all.
    """

    def __init__(self, library: Library, tags: Patterns = None) -> None:
        self._library = library
        self._wanted = matcher(tags)
        self._made: dict[str, _Samples] = {}

    def text(self) -> str:
        """All samples, those of a metric together, in Prometheus' text format."""
        self._library.start()
        books, _ = self._library.since(-1)
        self._made = {book.name: self._samples(book) for book in sorted(books, key=lambda book: by_number(book.name))}
        shown = {_escaped(name): samples for name, samples in reversed(self._made.items())}
        runs = list(reversed(shown.values()))
        lines = {family: "".join(run.lines.get(family, "") for run in runs) for family in FAMILIES}
        failures = len(self._library.failures) + sum(len(book.report.failures) for book in books if book.report)
        lines["gradledger_failures"] = f"gradledger_failures {failures}\n"
        lines["gradledger_reading"] = f"gradledger_reading {int(self._library.is_reading)}\n"
        left_out = sum(run.made for run in self._made.values()) - sum(run.shown for run in runs)
        lines["gradledger_series_left_out"] = f"gradledger_series_left_out {left_out}\n"
        heads = {name: f"# HELP {name} {text}\n# TYPE {name} gauge\n" for name, text in FAMILIES.items()}
        return "".join(heads[name] + lines[name] for name in FAMILIES)

    def _samples(self, book: Book) -> _Samples:
        made, report = self._made.get(book.name), book.told()
        state = book.version, len(report.findings) if report is not None else -1
        if made is not None and made.state == state:
            return made
        lines: dict[str, dict[str, str]] = {name: {} for name in FAMILIES}
        count = 0
        for count, (name, labels, value) in enumerate(self._values(book, report), 1):  # noqa: B007 - used below
            lines[name].setdefault(labels, f"{name}{{{labels}}} {_number(value)}\n")
        text = {name: "".join(own.values()) for name, own in lines.items()}
        return _Samples(state, text, count, sum(map(len, lines.values())))

    def _values(self, book: Book, report: RunReport | None) -> Iterator[tuple[str, str, float]]:
        """Metric, labels and value of each sample of a run."""
        run = f'run="{_escaped(book.name)}"'
        last = book.last.tolist()
        for tag, (_, _, value) in zip(book.tags, last, strict=False):  # the reader may be between the two
            if self._wanted(tag):
                yield "gradledger_last_value", f'{run},tag="{_escaped(tag)}"', value
        if last:
            yield "gradledger_last_step", run, max(step for step, _, _ in last)
            times = [time for _, time, _ in last if math.isfinite(time)]
            yield "gradledger_last_event_timestamp_seconds", run, max(times, default=math.nan)
        if book.rate > 0:
            yield "gradledger_steps_per_second", run, book.rate
        if report is not None:
            yield "gradledger_verdict", run, badness(report)
            found = Counter((finding.code, finding.severity.name.lower()) for finding in report.findings)
            for (code, severity), number in found.items():
                yield "gradledger_findings", f'{run},code="{code}",severity="{severity}"', number


class MetricsServer:
    """A server of `/metrics`, without any library but Python's own.

    Args:
        places: directories of runs, or event files: local paths, or addresses that fsspec knows.
        host: the address to listen at; at that of this machine alone, requests with another host name are refused.
        port: where to listen; 0 for a free port.
        tags: as in `Metrics`.
        config: what the audit looks for, as in `audit`.
        most_bytes: how much memory the columns of runs may take.

    Attributes:
        address: what to scrape.

    Raises:
        FileNotFoundError: a place does not exist.
        OSError: nothing can listen there.
        ConfigError: the configuration is invalid.
    """

    def __init__(
        self,
        places: Sequence[str],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tags: Patterns = None,
        config: Config | str | os.PathLike[str] | None = None,
        most_bytes: int = 1 << 30,
    ) -> None:
        library = Library(existing_places(places), as_config(config), most_bytes, audit_secs=_AUDIT_SECS)
        metrics = Metrics(library, tags)
        hosts = _LOCAL if host in _LOCAL else None

        class Handler(_Handler):
            def answer(self) -> tuple[HTTPStatus, str]:
                if refused(hosts, self.headers.get("Host", ""), self.headers.get("Origin", "")):
                    return HTTPStatus.FORBIDDEN, "only this machine is answered, by its own name\n"
                if self.path.partition("?")[0] != "/metrics":
                    return HTTPStatus.NOT_FOUND, "the metrics are at /metrics\n"
                return HTTPStatus.OK, metrics.text()

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except OSError as error:
            reason = error.strerror or error
            raise OSError(
                f"nothing can listen at {host!r}, port {port}: {reason}; it must be an IPv4 address or a name of this "
                "machine, and a port that is free"
            ) from error
        self._server.daemon_threads = True
        self.address: str = f"http://{host}:{self._server.server_address[1]}/metrics"
        self._library = library
        library.start()

    def run(self) -> None:
        """Answer, until interrupted or closed."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop answering, and looking at the runs; not while `run` is under way in the same thread."""
        self._server.server_close()
        self._library.close()


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD in plain text, and says nothing of each request."""

    timeout = _SOCKET_SECS  # a client that says nothing does not hold a thread for ever

    def answer(self) -> tuple[HTTPStatus, str]:
        raise NotImplementedError  # each server has a handler of its own

    def do_GET(self) -> None:
        status, text = self.answer()
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass


@lru_cache(1 << 14)  # runs of a sweep have the same tags
def _escaped(name: str) -> str:
    r"""A name as the value of a label.

    >>> _escaped('a"b\\c\n')
    'a\\"b\\\\c\\\\n'
    """
    return printable(name, _LONGEST).replace("\\", "\\\\").replace('"', '\\"')


def _number(value: float) -> str:
    """A number as Prometheus reads it, with as many digits as it needs."""
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
