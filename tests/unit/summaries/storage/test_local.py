"""Event files' names, and appending to one whatever came before."""

import itertools
import os
import socket

import pytest

from summaries.storage import local, names
from summaries.storage.local import LocalEventFile, read_chunks
from summaries.storage.names import event_file_name, is_event_file


@pytest.fixture
def counter(monkeypatch):
    """The names' counter, beginning at 0 again."""
    monkeypatch.setattr(names, "counter", itertools.count())


@pytest.mark.usefixtures("counter")
@pytest.mark.parametrize(
    ("secs", "digits"), [(1795202364.9, "1795202364"), (5.0, "0000000005"), (1.5e10, "15000000000")]
)
def test_name(secs, digits):
    place = f"{socket.gethostname()}.{os.getpid()}"
    assert event_file_name(secs) == f"events.out.tfevents.{digits}.{place}.000000"
    assert event_file_name(secs, ".v2") == f"events.out.tfevents.{digits}.{place}.000001.v2"


@pytest.mark.usefixtures("counter")
def test_a_host_name_is_no_path(monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "a/b")
    assert event_file_name(0) == f"events.out.tfevents.0000000000.a_b.{os.getpid()}.000000"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("events.out.tfevents.1795202364.vm", True),
        ("events.out.tfevents.1795202364.vm.13796.0.v2", True),
        ("runs/a/old.tfevents", True),
        ("tfevents/notes.txt", False),
        ("events.out", False),
    ],
)
def test_is_event_file(name, expected):
    assert is_event_file(name) is expected


@pytest.mark.usefixtures("counter")
def test_a_name_that_is_taken_is_left_alone(tmp_path, monkeypatch):
    """Two containers may have the same host name, pid and second."""
    first = LocalEventFile(str(tmp_path), 5.0)
    first.append(memoryview(b"theirs"), 0)
    monkeypatch.setattr(names, "counter", itertools.count())
    second = LocalEventFile(str(tmp_path), 5.0)
    assert [path.rpartition(".")[2] for path in (first.path, second.path)] == ["000000", "000001"]
    assert (first.size(), second.size()) == (6, 0)


def test_the_directory_is_made(tmp_path):
    file = LocalEventFile(str(tmp_path / "a" / "b"), 0.0)
    assert os.path.dirname(file.path) == str(tmp_path / "a" / "b")


def test_a_directory_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        LocalEventFile(str(tmp_path / "file"), 0.0)


@pytest.fixture
def file(tmp_path):
    return LocalEventFile(str(tmp_path), 0.0)


def content(file):
    return b"".join(read_chunks(file.path))


def test_append(file):
    file.append(memoryview(b"one"), 0)
    file.append(memoryview(b"two"), 3)
    assert content(file) == b"onetwo"


@pytest.mark.parametrize("done", range(len(b"batch") + 1))
def test_append_goes_on_where_it_was_interrupted(file, done):
    file.append(memoryview(b"one"), 0)
    with open(file.path, "ab") as other:
        other.write(b"batch"[:done])
    file.append(memoryview(b"batch"), 3)
    assert content(file) == b"onebatch"


def test_append_in_small_pieces(file, monkeypatch):
    """write() may take less than it was given."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:2]))
    file.append(memoryview(b"a long batch"), 0)
    assert content(file) == b"a long batch"


def test_append_to_a_file_that_was_cut_short(file):
    file.append(memoryview(b"one"), 0)
    os.truncate(file.path, 1)
    with pytest.raises(OSError, match="the file was cut short by somebody else") as raised:
        file.append(memoryview(b"two"), 3)
    assert str(raised.value) == f"[Errno 5] the file was cut short by somebody else: {file.path!r}"
    assert content(file) == b"o"


def test_append_to_a_file_that_was_removed(file):
    """It is not made again: somebody wanted it gone."""
    os.remove(file.path)
    with pytest.raises(FileNotFoundError) as raised:
        file.append(memoryview(b"one"), 0)
    assert str(raised.value) == f"[Errno 2] No such file or directory: {file.path!r}"
    assert not os.path.exists(file.path)


def test_an_error_of_write_names_the_file(file, monkeypatch):
    def full(fd, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left") as raised:
        file.append(memoryview(b"one"), 0)
    assert (raised.value.errno, raised.value.filename) == (28, file.path)


def test_sync(file, monkeypatch):
    """The file's bytes, and then the directory that has its name."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.path.realpath(f"/proc/self/fd/{fd}")))
    file.sync()
    assert synced == [os.path.realpath(file.path), os.path.dirname(os.path.realpath(file.path))]


@pytest.mark.parametrize("start", [0, 1, 5, 6, 100])
def test_read_chunks(tmp_path, monkeypatch, start):
    monkeypatch.setattr(local, "_CHUNK_BYTES", 2)
    (tmp_path / "file").write_bytes(b"bytes!")
    chunks = list(read_chunks(str(tmp_path / "file"), start))
    assert b"".join(chunks) == b"bytes!"[start:]
    assert all(0 < len(chunk) <= 2 for chunk in chunks)


@pytest.mark.usefixtures("counter")
def test_names_of_one_second_sort_by_age():
    names = [event_file_name(5.0, suffix) for suffix in ("", ".resumed") * 8]
    assert sorted(names) == names
