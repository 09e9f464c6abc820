"""Compiled code has one place, which nobody else may write to; what cannot be used is replaced by a temporary one."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from summaries.native import place


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache directory."""
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache/compiled"


def test_a_directory_is_created_and_used(cache):
    assert place.writable_directory() == str(cache)
    assert place.is_trusted(str(cache))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no such owners and modes here")
@pytest.mark.parametrize(
    ("owner", "mode", "trusted"),
    [
        (os.getuid(), 0o755, True),
        (0, 0o755, True),
        (12345, 0o755, False),
        (0, 0o775, False),
        (os.getuid(), 0o757, False),
    ],
)
def test_who_is_trusted(monkeypatch, owner, mode, trusted):
    monkeypatch.setattr(os, "stat", lambda _: SimpleNamespace(st_uid=owner, st_mode=0o40000 | mode))
    assert place.is_trusted("somewhere") == trusted


def test_what_is_not_there_is_not_trusted(tmp_path):
    assert not place.is_trusted(str(tmp_path / "nowhere"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="no such modes here")
def test_a_directory_that_others_may_write_to_is_not_used(cache, caplog):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    used = place.writable_directory()
    assert place.writable_directory() == used != str(cache)
    assert caplog.messages == [f"compiled code cannot be kept in {cache}, so each process compiles for itself"]
    place._remove(used, 0)
    assert os.path.isdir(used)
    place._remove(used, os.getpid())
    assert not os.path.exists(used)


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "file"
    place.write(str(path), b"one")
    place.write(str(path), b"two")
    assert path.read_bytes() == b"two"
    monkeypatch.setattr(os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        place.write(str(path), b"three")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


HOLDS = """
import sys, time
from summaries.native.place import alone
with alone(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


def test_without_a_lock_it_is_done_all_the_same(tmp_path):
    done = []
    with place.alone(str(tmp_path)):  # no file can be created there
        done.append(True)
    assert done
    with pytest.raises(OSError, match="its own"), place.alone(str(tmp_path)):
        raise OSError("its own")


def test_a_lock_is_held_until_its_process_dies(tmp_path):
    path = str(tmp_path / "lock")
    holder = subprocess.Popen([sys.executable, "-c", HOLDS, path], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline().strip() == b"held"
        with open(path, "ab") as file:
            assert not place._locked(file.fileno())
        with place.alone(path, patience=0.0):
            pass  # who has waited long enough goes ahead
    finally:
        holder.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        holder.communicate()
    with open(path, "ab") as file:
        assert place._locked(file.fileno())
