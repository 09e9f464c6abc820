"""Which failures are repeated, and what the error says at the end."""

import asyncio
import errno
import threading
from types import SimpleNamespace

import pytest

from summaries.storage import requests
from summaries.storage.credentials import Mask
from summaries.storage.protocols import ReplacedError, UnreachableError
from summaries.storage.requests import (
    Contact,
    InThreads,
    LastingThreads,
    ShortBodyError,
    patiently,
    read_range,
    with_patience,
)

MASK = Mask("s3://bucket", {"secret": "hidden"})


class NoCredentialsError(Exception):
    """As botocore names it."""


class ClientPayloadError(Exception):
    """As aiohttp names it."""


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """The pauses, which take no time; the clock goes on by them."""
    pauses = []
    clock = SimpleNamespace(sleep=pauses.append, monotonic=lambda: sum(pauses))
    monkeypatch.setattr(requests, "time", clock)

    async def sleep(secs):
        pauses.append(secs)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return pauses


def in_turn(request, path, mask):
    return with_patience(request, path, mask)


def as_coroutine(request, path, mask):
    async def coroutine():
        return request()

    return asyncio.run(patiently(coroutine, path, mask))


@pytest.fixture(params=[in_turn, as_coroutine])
def make(request):
    """Makes a request, one way or the other."""
    return request.param


def failing(times, error):
    left = iter([error] * times)

    def request():
        for each in left:
            raise each
        return "answer"

    return request


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EIO, "SlowDown"),
        TimeoutError(),
        ConnectionResetError(),
        ClientPayloadError("cut"),
        ShortBodyError(),
    ],
)
def test_what_may_pass_is_repeated(make, error, pauses):
    assert make(failing(4, error), "s3://bucket/x", MASK) == "answer"
    assert len(pauses) == 4
    assert pauses == sorted(pauses)
    assert sum(pauses) < 2


@pytest.mark.parametrize(
    ("error", "kind", "number", "reason"),
    [
        (FileNotFoundError("bucket/x"), FileNotFoundError, errno.ENOENT, "No such file or directory"),
        (PermissionError("expired, hidden"), PermissionError, errno.EACCES, "expired, ***"),
        (OSError(errno.EINVAL, "no range"), OSError, errno.EINVAL, "no range"),
        (NoCredentialsError("Unable to locate credentials"), OSError, errno.EIO, "Unable to locate credentials"),
        (
            ReplacedError("s3://bucket/x"),
            ReplacedError,
            errno.EAGAIN,
            "replaced by another file while it was being read",
        ),
    ],
)
def test_what_would_stay_is_not_repeated(make, error, kind, number, reason, pauses):
    with pytest.raises(kind) as raised:
        make(failing(1, error), "s3://bucket/x", MASK)
    assert (raised.value.errno, raised.value.strerror, raised.value.filename) == (number, reason, "s3://bucket/x")
    assert raised.value.__suppress_context__  # the cause may contain credentials
    assert not pauses


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(errno.EIO, "slow down, hidden"), "slow down, ***"),
        (TimeoutError("read of hidden"), "the store did not answer in time (read of ***)"),
        (TimeoutError(), "the store did not answer in time (TimeoutError)"),
    ],
)
def test_patience_ends(make, error, reason, pauses):
    with pytest.raises(OSError, match="s3://bucket/x") as raised:
        make(failing(1000, error), "s3://bucket/x", MASK)
    assert (raised.value.strerror, raised.value.filename) == (reason, "s3://bucket/x")
    assert requests.PATIENCE_SECS - 5 < sum(pauses) <= requests.PATIENCE_SECS


class System:
    """A file system of one object."""

    def __init__(self):
        self.asked = []

    def _open(self, path):
        """As fsspec's have it."""

    def cat_file(self, path, **options):
        self.asked.append(options)
        return b"bytes!"[options["start"] : options["end"]]

    async def _cat_file(self, path, **options):
        return self.cat_file(path, **options)


def read(system, *part):
    return asyncio.run(read_range(system, "bucket/x", *part))


@pytest.mark.parametrize(
    ("identity", "more"),
    [(None, {}), (("mtime", "1", 6), {}), (("ETag", "x", 6), {}), (("generation", "17", 6), {"generation": "17"})],
)
def test_a_range(identity, more):
    """One request; Google's store is asked for the listed generation."""
    system = System()
    for source in (system, InThreads(system, 1)):
        assert read(source, 1, 4, identity) == b"yte"
    assert system.asked == [{"start": 1, "end": 4, **more}] * 2


def test_a_short_body():
    with pytest.raises(ShortBodyError) as raised:
        read(System(), 4, 9, None)
    assert raised.value.strerror == "the store returned 2 of 5 bytes"


def test_threads_that_have_ended_leave_the_work_to_the_caller():
    threads = LastingThreads()
    assert threads.submit(threading.get_ident).result() != threading.get_ident()
    threads.shutdown()
    assert threads.submit(threading.get_ident).result() == threading.get_ident()
    with pytest.raises(ValueError, match="invalid literal"):
        threads.submit(int, "one").result()


class EndpointConnectionError(Exception):
    """As botocore's, which is no OSError."""


def test_what_cannot_be_reached_is_not_tried_again_for_ten_seconds(monkeypatch):
    """Then it is: a follower goes on when the store is back."""
    now = iter(range(10_000))
    monkeypatch.setattr(requests.time, "monotonic", lambda: next(now))
    monkeypatch.setattr(requests.time, "sleep", lambda _: None)
    contact, tries = Contact(), []

    def fails():
        tries.append(1)
        raise EndpointConnectionError("no server")

    text = r"the store cannot be reached \(no server\): 's3://b/x'"
    with pytest.raises(UnreachableError, match=text):
        with_patience(fails, "s3://b/x", Mask("", {}), contact)
    assert len(tries) > 5
    tries.clear()
    with pytest.raises(UnreachableError, match=r"the store cannot be reached \(no server\): 's3://b/y'"):
        with_patience(fails, "s3://b/y", Mask("", {}), contact)
    with pytest.raises(UnreachableError):
        asyncio.run(patiently(lambda: asyncio.sleep(0), "s3://b/z", Mask("", {}), contact))
    assert tries == []
    for _ in range(10):
        next(now)
    assert with_patience(lambda: 7, "s3://b/x", Mask("", {}), contact) == 7


def test_one_file_that_does_not_answer_is_no_lost_store(monkeypatch):
    monkeypatch.setattr(requests, "PATIENCE_SECS", 0.0)
    contact = Contact()

    def fails():
        raise TimeoutError("Read timeout")

    with pytest.raises(TimeoutError):
        with_patience(fails, "s3://b/x", Mask("", {}), contact)
    assert with_patience(lambda: 7, "s3://b/y", Mask("", {}), contact) == 7


@pytest.mark.parametrize("error", [TypeError("unexpected keyword argument 'keyy'"), AttributeError("no 'copy'")])
def test_wrong_options_are_told_at_once(error):
    tries = []

    def fails():
        tries.append(1)
        raise error

    with pytest.raises(OSError, match=f"the file system does not take these storage options: {error}"):
        with_patience(fails, "s3://b/x", Mask("", {}))
    assert tries == [1]
