"""A proxy between a store's library and its server: counts requests, adds latency, limits the rate, makes trouble.

client ─ request ─▶ latency ─▶ trouble? ─▶ server ─ answer ─▶ rate ─▶ client
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_PIECE = 1 << 18
_SLOW_DOWN = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
_EXPIRED = b"<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"


@dataclass(frozen=True)
class Request:
    """A request, as a store would charge it."""

    method: str
    path: str
    range: str = ""

    @property
    def is_listing(self):
        return self.method == "GET" and "list-type=2" in self.path

    @property
    def is_read(self):
        return self.method == "GET" and not self.is_listing


def slow_down(_):
    """Answer 503."""
    return refusal(b"503 Slow Down", _SLOW_DOWN)


def expired(_):
    """Answer that the credentials have expired."""
    return refusal(b"400 Bad Request", _EXPIRED)


def refusal(status, text):
    """An answer that refuses a request, and ends the connection, which it says: or the next one could be lost."""
    head = b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(text)) + text


def drop(_):
    """Close the connection without an answer."""
    return b""


def hang(_):
    """Never answer."""
    return


def cut(answer):
    """Close the connection in the middle of the body."""
    head, _, body = answer.partition(b"\r\n\r\n")
    return head + b"\r\n\r\n" + body[: len(body) // 2]


def shorten(answer):
    """Send half of the body, with a length that says that this is all."""
    head, _, body = answer.partition(b"\r\n\r\n")
    body = body[: len(body) // 2]
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"content-length", b"x-amz-check"))]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])


class Proxy:
    """Serves in a thread, until closed.

    Args:
        port: the server's, on this machine.
        latency_secs: waited before each answer.
        bytes_per_sec: the rate of all answers together; None does not limit it.
        remembers: whether objects and listings are served from memory after their first request, for speed: the server
            reads a whole object for each range, and takes several times a store's latency for a listing.

    Attributes:
        requests: what was asked for, in order.
    """

    def __init__(self, port, latency_secs=0.0, bytes_per_sec=None, *, remembers=False):
        self.requests = []
        self._objects = {} if remembers else None
        self.latency_secs, self.bytes_per_sec = latency_secs, bytes_per_sec
        self._port = port
        self._troubles = []
        self._free_at = 0.0
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        started.wait()

    def trouble(
        self, kind: Callable[[bytes], bytes | None], when=lambda request: request.is_read, times=1, before=None
    ):
        """Spoil the next requests of some kind.

        Args:
            kind: from the answer to what is sent instead; None never answers.
            when: which requests.
            times: how many of them.
            before: called before the request is passed on.
        """
        self._troubles.append([kind, when, times, before])

    def counts(self):
        """(listings, reads, others) since the start or since `requests` was cleared."""
        listings = sum(request.is_listing for request in self.requests)
        reads = sum(request.is_read for request in self.requests)
        return listings, reads, len(self.requests) - listings - reads

    def close(self):
        """Stop serving, and wait until every connection is closed."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    async def _serve(self, started):
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._client, "127.0.0.1", 0, limit=_PIECE)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._closing.wait()
        # A closed server leaves open what it has just accepted. So accept nothing more, and let that become a task and
        # begin: what has begun closes its connection when it is cancelled.
        self._loop.remove_reader(server.sockets[0])
        for _ in range(3):
            await asyncio.sleep(0)
        server.close()
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.wait(others)

    async def _client(self, reader, writer):
        try:
            while await self._request(reader, writer):
                pass
            writer.close()
            await writer.wait_closed()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    @asynccontextmanager
    async def _server(self):
        answered, there = await asyncio.open_connection("127.0.0.1", self._port, limit=_PIECE)
        try:
            yield answered, there
        finally:
            there.transport.abort()

    async def _request(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        if _field(head, b"expect"):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            head = b"\r\n".join(line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect:"))
        body = await _body(reader, head)
        method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        request = Request(method, path, _field(head, b"range").decode())
        self.requests.append(request)
        trouble = self._trouble_for(request)
        if trouble and trouble[3]:
            await asyncio.to_thread(trouble[3])
        await asyncio.sleep(self.latency_secs)
        if self._objects is not None and request.range:
            await self._from_memory(request, head, writer)
            return True
        if self._objects is not None and request.is_listing:
            await self._listing_from_memory(request, head, writer)
            return True
        async with self._server() as (answered, there):
            there.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body)
            if trouble:
                spoilt = trouble[0](await answered.read())
                if spoilt is None:
                    await asyncio.sleep(3600)
                writer.write(spoilt)
                await writer.drain()
                return False
            return await self._pass_on(answered, writer, bodiless=method == "HEAD")

    async def _from_memory(self, request, head, writer):
        path = request.path.partition("?")[0]
        if path not in self._objects:
            lines = [line for line in head.split(b"\r\n") if not line.lower().startswith((b"range:", b"connection:"))]
            async with self._server() as (answered, there):
                there.write(b"\r\n".join([lines[0], b"Connection: close", *lines[1:]]))
                self._objects[path] = (await answered.read()).partition(b"\r\n\r\n")[2]
        start, stop = (int(part) for part in request.range.removeprefix("bytes=").split("-"))
        body = memoryview(self._objects[path])[start : stop + 1]
        whole = b"bytes %d-%d/%d" % (start, start + len(body) - 1, len(self._objects[path]))
        fields = b"Content-Length: %d\r\nContent-Range: %b\r\nContent-Type: binary/octet-stream" % (len(body), whole)
        writer.write(b"HTTP/1.1 206 Partial Content\r\n" + fields + b"\r\n\r\n")
        for at in range(0, len(body), _PIECE):
            await self._wait_for_room(len(body[at : at + _PIECE]))
            writer.write(body[at : at + _PIECE])
            await writer.drain()

    async def _listing_from_memory(self, request, head, writer):
        if request.path not in self._objects:
            async with self._server() as (answered, there):
                there.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
                self._objects[request.path] = await answered.read()
        answer = self._objects[request.path].replace(b"Connection: close", b"Connection: keep-alive")
        await self._wait_for_room(len(answer))
        writer.write(answer)
        await writer.drain()

    async def _wait_for_room(self, size):
        """Wait until the link has carried what was sent before, and this."""
        if self.bytes_per_sec:
            now = time.monotonic()
            self._free_at = max(self._free_at, now) + size / self.bytes_per_sec
            await asyncio.sleep(self._free_at - now)

    async def _pass_on(self, answered, writer, *, bodiless):
        head = (await answered.readuntil(b"\r\n\r\n")).replace(b"Connection: close", b"Connection: keep-alive")
        writer.write(head)
        length = _field(head, b"content-length")
        left = 0 if bodiless else int(length or 1 << 62)
        while left and (piece := await answered.read(min(left, _PIECE))):
            await self._wait_for_room(len(piece))
            writer.write(piece)
            await writer.drain()
            left -= len(piece)
        await writer.drain()
        return bool(length) or bodiless

    def _trouble_for(self, request):
        for trouble in self._troubles:
            if trouble[2] > 0 and trouble[1](request):
                trouble[2] -= 1
                return trouble
        return None


def _field(head, name):
    for line in head.split(b"\r\n")[1:]:
        found, _, value = line.partition(b":")
        if found.strip().lower() == name:
            return value.strip()
    return b""


async def _body(reader, head):
    if _field(head, b"transfer-encoding").lower() == b"chunked":
        body = b""
        while True:
            line = await reader.readuntil(b"\r\n")
            size = int(line.split(b";")[0], 16)
            body += line + await reader.readexactly(size + 2)
            if not size:
                return body
    return await reader.readexactly(int(_field(head, b"content-length") or 0))
