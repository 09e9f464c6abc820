"""The library is loaded once, says once if it is missing, and can be switched off."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from summaries.native import building, library
from summaries.native.library import function, is_available, use
from summaries.wire.layout import COUNT, ROOM, STEPS, VALUE

MISSING = """
import logging, sys
logging.basicConfig(format="%(message)s")
from summaries.native import library
library.DIRECTORY = sys.argv[1]
from summaries import SummaryWriter, read_run
with SummaryWriter(sys.argv[2]) as writer:
    writer.add_histogram("weights", [1.0, 2.0])
    writer.add_scalar("loss", 1.0)
assert not library.is_available()
print(read_run(sys.argv[2]))
"""


@pytest.fixture
def chosen():
    yield use
    use(None)


def run(*arguments, **environment):
    command = [sys.executable, "-c", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=building.ROOT, **environment)


def test_without_a_library_plain_python_does_everything_and_says_so_once(tmp_path):
    done = run(MISSING, tmp_path / "empty", tmp_path / "run")
    assert done.stdout == "Run(1 file, 2 tags, 1 scalar, 0 faults)\n"
    said = done.stderr.splitlines()
    assert len(said) == 1
    assert said[0].startswith("there is no compiled code, so plain Python does its work, many times slower: ")
    assert said[0].endswith(f"{building.host().file} is missing; `make native` builds it")


def test_a_damaged_library_is_told(tmp_path):
    wanted = building.host()
    (tmp_path / wanted.file).write_bytes(b"no library")
    done = run(MISSING, tmp_path, tmp_path / "run")
    assert "there is no compiled code, so plain Python does its work, many times slower: " in done.stderr
    assert wanted.file in done.stderr


def cut(data, at):
    return data[:at]


def blank(data, at):
    """The length of a file may outlive a crash that its end does not."""
    return data[:at] + bytes(len(data) - at)


def hole(data, at):
    return data[:at] + bytes(4096) + data[at + 4096 :]


@pytest.mark.parametrize("damaged", [cut, blank, hole])
@pytest.mark.parametrize("left", [0.25, 0.5, 0.9, 0.999])
@pytest.mark.skipif(sys.platform != "linux", reason="loading another system's library fails by itself")
def test_a_library_that_is_damaged_is_told(tmp_path, damaged, left):
    """As on a disk that was full: loading or calling it would end the process."""
    wanted = building.host()
    whole = Path(library.DIRECTORY, wanted.file).read_bytes()
    (tmp_path / wanted.file).write_bytes(damaged(whole, int(left * len(whole))))
    done = run(MISSING, tmp_path, tmp_path / "run")
    assert done.stdout == "Run(1 file, 2 tags, 1 scalar, 0 faults)\n"
    assert f"{wanted.file} is damaged; `make native` builds it" in done.stderr


def test_another_library_is_told(tmp_path):
    """One that can be loaded, and has none of our functions."""
    wanted = building.host()
    shutil.copy(np._core._multiarray_umath.__file__, tmp_path / wanted.file)
    done = run(MISSING, tmp_path, tmp_path / "run")
    assert done.stdout == "Run(1 file, 2 tags, 1 scalar, 0 faults)\n"
    assert "there is no compiled code, so plain Python does its work, many times slower: " in done.stderr


@pytest.mark.parametrize("seconds", [0, 1 << 40])
def test_the_library_of_other_sources_is_not_used(tmp_path, seconds):
    """It is looked into only if it is older than its sources."""
    wanted = building.host()
    path = tmp_path / wanted.file
    shutil.copy(os.path.join(library.DIRECTORY, wanted.file), path)
    os.utime(path, (seconds, seconds))
    others = MISSING.replace("library.DIRECTORY =", "building.sources = lambda: 'others'; library.DIRECTORY =")
    others = others.replace("assert not", "assert not" if seconds == 0 else "assert")
    done = run("from summaries.native import building" + others, tmp_path, tmp_path / "run")
    assert done.stdout == "Run(1 file, 2 tags, 1 scalar, 0 faults)\n"
    told = f"many times slower: {path} was made of other sources; `make native` builds it\n"
    assert done.stderr.endswith(told) if seconds == 0 else not done.stderr


def test_it_is_switched_off(chosen):
    assert is_available()
    chosen("plain")
    assert not is_available()
    chosen("compiled")
    assert is_available()


def test_what_may_be_chosen(chosen):
    with pytest.raises(ValueError, match=r"^kernels must be 'plain', 'compiled' or None, got 'fast'$"):
        chosen("fast")


@pytest.mark.parametrize(("told", "available"), [("", True), ("compiled", True), ("plain", False), ("foo", True)])
def test_the_environment(monkeypatch, caplog, told, available):
    monkeypatch.setenv("GRADLEDGER_KERNELS", told)
    library._told.cache_clear()
    try:
        assert is_available() == available
    finally:
        monkeypatch.undo()
        library._told.cache_clear()
    want = [f"GRADLEDGER_KERNELS must be 'plain' or not set, got {told!r}, which is ignored"]
    assert caplog.messages == (want if told not in {"", "plain"} else [])


def test_a_function_that_is_not_there():
    with pytest.raises(LookupError, match=r"^there is no compiled function 'nonsense' for this processor, which is of"):
        function("nonsense")


def test_a_processor_without_the_instructions_is_plain(monkeypatch, chosen):
    monkeypatch.setattr(library, "_library", lambda: None)
    assert not is_available()
    with pytest.raises(ImportError, match=f"^there is no compiled code for this machine, {sys.platform} "):
        chosen("compiled")


def test_arguments_are_words():
    rows = np.zeros(5, VALUE)
    rows["tag"] = [1, 2, 0, 2, 2]
    columns = np.zeros((3, 3, 4))
    tables = np.zeros((3, 6), np.int64)
    tables[:, ROOM] = 4
    tables[:, STEPS:] = columns.ctypes.data + 8 * np.arange(0, 36, 4).reshape(3, 3)
    assert function("scatter")(rows, 1, tables) == 5
    assert tables[:, COUNT].tolist() == [1, 0, 3]
