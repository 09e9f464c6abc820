"""The page's addresses as a WSGI application: its files below `page/`, its data below `data/`."""

from __future__ import annotations

import gzip
import json
import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from summaries.auditing.config import as_config
from summaries.integrations.tensorboard.answers import ANSWERS
from summaries.integrations.tensorboard.assets import asset
from summaries.integrations.tensorboard.in_a_file import answer
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.media import Content
from summaries.integrations.tensorboard.places import places_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

__all__ = ["EVERY_ANSWER", "Application", "application"]

EVERY_ANSWER = {**ANSWERS, "page": answer}
_PREFIX = "/data/plugin/gradledger/"
_DEFAULT_MB = 1024
_GZIP_FROM = 2048
_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_STATUS = {
    200: "200 OK",
    400: "400 Bad Request",
    403: "403 Forbidden",
    404: "404 Not Found",
    405: "405 Method Not Allowed",
}
_STATUS |= {500: "500 Internal Server Error", 503: "503 Service Unavailable"}
_logger = logging.getLogger("summaries")


def application(logdir: str, flags: Any) -> Application:
    """The application for TensorBoard's flags; nothing is read before somebody asks for data.

    Raises:
        ConfigError: the file of `--gradledger_config` is invalid.
        OSError: it cannot be read.
    """
    places = places_of(logdir, getattr(flags, "logdir_spec", "") or "")
    megabytes = getattr(flags, "gradledger_memory_mb", _DEFAULT_MB)
    audit = as_config(getattr(flags, "gradledger_config", "") or None)
    given = getattr(flags, "gradledger_hosts", "") or ""
    listens = "" if getattr(flags, "bind_all", False) else getattr(flags, "host", None) or "localhost"
    is_local = listens in {*_LOCAL, "::1"}
    hosts = {*_LOCAL, *filter(None, map(str.strip, given.lower().split(",")))} if is_local else None
    return Application(Library(places, audit, megabytes << 20), hosts)


def refused(hosts: Collection[str] | None, host: str, origin: str) -> str:
    """Why a request is refused, as one that a page of another site may have sent; "" if it is not."""
    if origin and host and origin.rpartition("://")[2].lower() != host.lower():
        return f"only the page itself is answered, got the origin {origin!r}"
    name = host.lower() if host.endswith("]") else host.lower().rpartition(":")[0] or host.lower()
    if host and hosts is not None and name not in hosts:
        return f"only a browser that asks localhost is answered, or a name in --gradledger_hosts, got {name!r}"
    return ""


class Application:
    """Answers requests.

    Args:
        library: the runs.
        hosts: the names that a browser may know the server by; None for any.
    """

    def __init__(self, library: Library, hosts: Collection[str] | None = None) -> None:
        self._library = library
        self._hosts = hosts

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request, as WSGI wants it."""
        if refusal := refused(self._hosts, environ.get("HTTP_HOST", ""), environ.get("HTTP_ORIGIN", "")):
            status, kind, content = _said(403, refusal)
        else:
            status, kind, content = self.answer(
                environ["REQUEST_METHOD"], environ["PATH_INFO"].rpartition(_PREFIX)[2], environ.get("QUERY_STRING", "")
            )
        head = [("Content-Type", kind), ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]
        head.append(("Content-Security-Policy", "default-src 'none'; sandbox"))  # of what is opened by itself
        if len(content) >= _GZIP_FROM and "gzip" in environ.get("HTTP_ACCEPT_ENCODING", "") and not _is_binary(kind):
            content = gzip.compress(content, 3)
            head.append(("Content-Encoding", "gzip"))
        start_response(_STATUS[status], [*head, ("Content-Length", str(len(content)))])
        return [content] if environ["REQUEST_METHOD"] != "HEAD" else []

    def answer(self, method: str, path: str, query: str) -> tuple[int, str, bytes]:
        """Status, type and content for an address below the plugin's.

        >>> from summaries.auditing.config import Config
        >>> Application(Library((), Config(), 0)).answer("GET", "data/curve", "tag=loss")
        (400, 'application/json', b'{"error": "the query must have run=, got tag="}')
        """
        if method not in {"GET", "HEAD"}:
            return _said(405, f"only GET is answered, got {method}")
        folder, _, name = path.partition("/")
        try:
            if folder == "page":
                self._library.make_way()
                return 200, *asset(name)
            if folder != "data" or name not in EVERY_ANSWER:
                return _said(404, f"there is nothing at {path!r}")
            asked = dict(parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))
            found = EVERY_ANSWER[name](self._library, asked)
        except LookupError as error:
            return _said(404, str(error.args[0]))
        except TimeoutError as error:
            return _said(503, str(error))
        except (ValueError, OSError) as error:
            return _said(400, str(error))
        except Exception as error:
            _logger.exception("gradledger cannot answer %s", path)
            return _said(500, f"{type(error).__name__}: {error}")
        if isinstance(found, Content):
            return 200, *found
        if isinstance(found, bytes):
            return 200, "application/octet-stream", found
        return 200, "application/json", json.dumps(found, allow_nan=False).encode("ascii")


def _said(status: int, error: str) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps({"error": error}).encode("ascii")


def _is_binary(kind: str) -> bool:
    return kind.startswith(("application/octet-stream", "image/", "audio/"))
