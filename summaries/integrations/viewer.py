"""The page without TensorBoard: the application of its tab, behind a server on this machine.

    places → library → application → guard → werkzeug, which is TensorBoard's own server

Whoever has the link may look: it carries a token, which becomes a cookie. Other programs' pages cannot: the guard
answers only requests that name this machine as their host, and none that another site's script makes.
"""

from __future__ import annotations

import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from summaries.auditing.config import as_config
from summaries.integrations.tensorboard.application import Application
from summaries.integrations.tensorboard.assets import asset
from summaries.integrations.tensorboard.library import Library
from summaries.integrations.tensorboard.places import existing_places
from summaries.optional import needs

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from summaries.auditing.config import Config

__all__ = ["Guard", "Viewer"]

_HOST = "127.0.0.1"
_PAGE = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>gradledger</title>
<link rel="icon" href="data:,">
<link rel="preload" as="style" href="data/plugin/gradledger/page/plugin.css">
<script type="module" src="data/plugin/gradledger/page/alone.js"></script>
</head>
<body></body>
</html>
"""
# Styles: uPlot sets some of elements, and so do we. Nothing is fetched from anywhere else.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEAD = [
    ("Content-Security-Policy", _POLICY),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
]


class Viewer:
    """A server of the page on this machine, which reads what is asked for.

    Args:
        places: directories of runs, or event files: local paths, or addresses that fsspec knows.
        port: where to listen; 0 for a free port.
        config: what the audit looks for, as in `audit`.
        most_bytes: how much memory the columns of runs may take; the one that was read last is kept whatever its size.

    Attributes:
        address: the link to open, which has a token in it.

    Raises:
        ImportError: werkzeug is not installed.
        FileNotFoundError: a place does not exist.
        OSError: nothing can listen at this port.
        ConfigError: the configuration is invalid.
    """

    def __init__(
        self,
        places: Sequence[str],
        *,
        port: int = 0,
        config: Config | str | os.PathLike[str] | None = None,
        most_bytes: int = 1 << 30,
    ) -> None:
        serving = needs("werkzeug.serving", "view")
        self._library = Library(existing_places(places), as_config(config), most_bytes)
        guard = Guard(Application(self._library))

        class Handler(serving.WSGIRequestHandler):  # type: ignore[misc, name-defined]  # of an optional dependency
            def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002
                """Say nothing of each request."""

        with socket.create_server((_HOST, port)) as listening:  # werkzeug would end the process if the port is taken
            guard.port = port = listening.getsockname()[1]
            self._server = serving.make_server(
                _HOST, port, guard, threaded=True, request_handler=Handler, fd=listening.fileno()
            )
        self.address: str = f"http://{_HOST}:{port}/?token={guard.token}"

    def run(self) -> None:
        """Read, and answer, until interrupted or closed; who runs this is about to look."""
        for name in ("alone.js", "plugin.css"):  # made before anything else has the interpreter
            asset(name)
        self._library.start(is_looked_at=True)
        self._server.serve_forever()

    def close(self) -> None:
        """Stop answering, and looking at the runs."""
        self._server.shutdown()
        self._server.server_close()
        self._library.close()


class Guard:
    """Answers only those who have the link, and begins the page.

    Args:
        application: what answers below the page.

    Attributes:
        token: what the link must have.
        port: where the server listens.
    """

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self.token: str = secrets.token_urlsafe(24)
        self.port = 0
        self._application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer one request, as WSGI wants it."""
        reason = self._refusal(environ)
        if reason:
            return _said("403 Forbidden", reason, start_response)
        if environ["PATH_INFO"] != "/":
            return self._application(environ, start_response)
        if self._has_token(environ):  # the cookie takes its place, so that no link on the page and no picture has it
            cookie = f"{self._cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
            start_response(
                "303 See Other", [*_HEAD, ("Location", "/"), ("Set-Cookie", cookie), ("Content-Length", "0")]
            )
            return [b""]
        start_response(
            "200 OK", [*_HEAD, ("Content-Type", "text/html; charset=utf-8"), ("Content-Length", str(len(_PAGE)))]
        )
        return [_PAGE]

    @property
    def _cookie(self) -> str:
        return f"gradledger-{self.port}"  # ports of a machine share their cookies

    def _refusal(self, environ: dict[str, Any]) -> str:
        """Why a request is not answered; "" if it is."""
        hosts = {f"{name}:{self.port}" for name in (_HOST, "localhost")}
        if environ.get("HTTP_HOST") not in hosts:
            return f"gradledger answers only at {_HOST}:{self.port}, got Host: {environ.get('HTTP_HOST', '')!r}"
        origin = environ.get("HTTP_ORIGIN")
        if origin is not None and origin.removeprefix("http://") not in hosts:
            return f"gradledger does not answer other sites, got Origin: {origin!r}"
        if not self._has_token(environ) and not self._has_cookie(environ):
            return "open the link that gradledger view printed: it has a token"
        return ""

    def _has_token(self, environ: dict[str, Any]) -> bool:
        given = parse_qs(environ.get("QUERY_STRING", "")).get("token", [""])[0]
        return environ["PATH_INFO"] == "/" and secrets.compare_digest(given.encode(), self.token.encode())

    def _has_cookie(self, environ: dict[str, Any]) -> bool:
        try:
            cookie = SimpleCookie(environ.get("HTTP_COOKIE", "")).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(cookie.value.encode(), self.token.encode())


def _said(status: str, text: str, start_response: Callable[..., Any]) -> Iterable[bytes]:
    content = (text + "\n").encode("utf-8", "backslashreplace")
    head = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(content)))]
    start_response(status, [*_HEAD, *head])
    return [content]
