"""Fetching ahead: what is requested, in which order, and how much of it at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from summaries.storage import prefetch
from summaries.storage.local import LOCAL
from summaries.storage.prefetch import Prefetcher, ScannedFile
from summaries.storage.protocols import StoredFile, chunks

DATA = bytes(range(256)) * 4


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(prefetch, "RANGE_BYTES", 100)
    monkeypatch.setattr(prefetch, "AHEAD_BYTES", 400)
    monkeypatch.setattr(prefetch, "_LEAST_BYTES", 1)


class Store:
    """Files of bytes, which are fetched only while the gate is open."""

    def __init__(self):
        self.asked, self.confirmed, self.requests = [], [], []
        self.gate = threading.Event()
        self.gate.set()
        self.threads = ThreadPoolExecutor(32)
        self.prefetcher = Prefetcher(self.submit, self.confirmed.append)

    def submit(self, *part):
        self.requests.append(self.threads.submit(self.fetch, *part))
        return self.requests[-1]

    def fetch(self, file, start, stop):
        self.asked.append((file.path, start, stop))
        assert self.gate.wait(120)
        if file.path == "missing":
            raise FileNotFoundError(2, "No such file or directory", file.path)
        return DATA[start:stop]

    def settled(self):
        """What was asked for, when all that was is answered."""
        wait(self.requests)
        return sorted(self.asked)


def file(path, size=1024):
    return StoredFile(path, size, path, LOCAL)


@pytest.mark.parametrize("start", [0, 1, 99, 100, 777, 1023, 1024])
@pytest.mark.parametrize("read", ["range", "into"])
def test_a_scan_gives_the_bytes(start, read):
    store = Store()
    with ScannedFile(store.prefetcher, file("a"), start) as opened:
        if read == "range":
            found = b"".join(chunks(opened, start))
        else:
            buffer, found = bytearray(130), b""
            while got := opened.read_into(start + len(found), memoryview(buffer)):
                found += buffer[:got]
    assert found == DATA[start:]
    ranges = [(at, stop) for _, at, stop in sorted(store.asked)]
    assert ranges == [(at, min(at + 100, 1024)) for at in range(start, 1024, 100)]


def test_steps_back():
    """A little is in memory; further back is asked for."""
    store = Store()
    with ScannedFile(store.prefetcher, file("a"), 0) as opened:
        assert opened.read_range(0, 500) == DATA[:500]
        asked = store.settled()
        assert opened.read_range(320, 150) == DATA[320:470]
        assert store.settled() == asked
        assert opened.read_range(10, 20) == DATA[10:30]
        assert set(store.settled()) - set(asked) == {("a", 10, 30)}
        assert opened.read_range(490, 2000) == DATA[490:]


def test_bytes_in_flight_are_bounded():
    store = Store()
    store.gate.clear()
    files = [file("a"), file("b")]
    store.prefetcher.plan((each, 0) for each in files)
    assert store.prefetcher._held == 400
    store.gate.set()
    assert store.settled() == [("a", at, at + 100) for at in (0, 100, 200, 300)]
    for each in files:
        with ScannedFile(store.prefetcher, each, 0) as opened:
            assert b"".join(chunks(opened)) == DATA
    assert store.prefetcher._held == 0
    assert len(store.asked) == 22
    assert store.confirmed == files  # each took several ranges


def test_small_files_are_fetched_together():
    store = Store()
    files = [file(f"{i}", 10) for i in range(100)]
    store.prefetcher.plan((each, 0) for each in files)
    assert len(store.settled()) == 40
    for each in files:
        with ScannedFile(store.prefetcher, each, 0) as opened:
            assert opened.read_range(0, 99) == DATA[:10]
    assert len(store.asked) == 100
    assert store.confirmed == []  # one request is always of one object


def test_an_empty_file_takes_no_request():
    store = Store()
    with ScannedFile(store.prefetcher, file("a", 0), 0) as opened:
        assert opened.read_range(0, 99) == b""
        assert opened.read_into(0, memoryview(bytearray(9))) == 0
    assert store.asked == []


def test_open_files_share_what_is_ahead():
    """And none waits for another: what is needed now is asked for at once."""
    store = Store()
    first = ScannedFile(store.prefetcher, file("a"), 0)
    second = ScannedFile(store.prefetcher, file("b"), 0)
    assert store.prefetcher._held == 400
    assert second.read_range(0, 50) == DATA[:50]
    for at in range(0, 400, 100):
        first.read_range(at, 100)
        second.read_range(at, 100)
    scans = {scan.file.path: scan.held for scan in store.prefetcher._open}
    assert scans == {"a": 200, "b": 200}
    first.close()
    second.close()
    assert store.prefetcher._held == 0


def test_what_is_not_read_is_dropped():
    store = Store()
    planned = [file("a"), file("b")]
    store.prefetcher.plan((each, 0) for each in planned)
    with ScannedFile(store.prefetcher, planned[0], 0) as opened:
        opened.read_range(0, 10)
    store.prefetcher.forget(planned)
    assert store.prefetcher._held == 0
    assert not store.prefetcher._planned


def test_a_planned_file_that_is_read_from_elsewhere():
    store = Store()
    store.prefetcher.plan([(file("a"), 0)])
    with ScannedFile(store.prefetcher, file("a"), 1000) as opened:
        assert opened.read_range(1000, 99) == DATA[1000:]
    assert store.prefetcher._held == 0


def test_an_error_comes_when_the_file_is_read():
    store = Store()
    store.prefetcher.plan([(file("missing"), 0), (file("a"), 0)])
    with ScannedFile(store.prefetcher, file("missing"), 0) as opened, pytest.raises(FileNotFoundError, match="missing"):
        opened.read_range(0, 10)
    with ScannedFile(store.prefetcher, file("a"), 0) as opened:
        assert b"".join(chunks(opened)) == DATA
    assert store.prefetcher._held == 0


def test_the_garbage_collector_closes_a_file_in_a_thread_that_holds_the_lock():
    store = Store()
    one = ScannedFile(store.prefetcher, file("a"), 0)
    with store.prefetcher._locked():
        one.close()
    assert store.prefetcher._held == 0
    with ScannedFile(store.prefetcher, file("b"), 0) as two:
        assert two.read_range(0, 1024) == DATA


def test_a_part_is_fetched_ahead_to_its_end_and_behind_it_what_is_asked_for():
    store = Store()
    with ScannedFile(store.prefetcher, file("a"), 150, 330) as opened:
        buffer = bytearray(1000)
        assert opened.read_into(150, memoryview(buffer)) == 100
        assert store.settled() == [("a", 150, 250), ("a", 250, 330)]
        assert opened.read_range(250, 120) == DATA[250:370]
        assert store.settled()[2:] == [("a", 330, 370)]
    assert [one.path for one in store.confirmed] == ["a"]


def test_a_part_of_one_range_is_confirmed_too():
    """Others read the other parts, and may have got them of another object."""
    store = Store()
    with ScannedFile(store.prefetcher, file("a"), 0, 100) as opened:
        assert opened.read_range(0, 100) == DATA[:100]
    assert [one.path for one in store.confirmed] == ["a"]
