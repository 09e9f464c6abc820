"""Every command that writes: killed, interrupted, or on a full disk. Its output is there whole, or it is not there."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from benchmarks.big import COMMANDS, arguments, of_runs

resource = pytest.importorskip("resource")

WRITING = [name for name, form in COMMANDS.items() if any("{out}" in word for word in form)]
RUNS, MOMENTS, FULL_BYTES = 60, 3, 100
REPORTS_WHAT_IT_HAS = {"audit, page"}  # when it is interrupted
FILE_BY_FILE = {"export, dataset"}
_OWN_NAMES = re.compile(r"tfevents\.[^/]*|[0-9a-f]{32}|\d{18}")  # they have the process' number, or something random


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    directory = str(tmp_path_factory.mktemp("big") / "runs")
    of_runs(directory, RUNS)
    return directory


def begin(name, runs, out, **how):
    """Begin a command in a process."""
    os.makedirs(out)
    if name == "convert, back":
        subprocess.run(command("convert", runs, out), check=True, capture_output=True)
    before = there(out)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return before, subprocess.Popen(command(name, runs, out), **quiet, **how)


def command(name, runs, out):
    return [sys.executable, "-m", "gradledger", *arguments(COMMANDS[name], runs, out)]


def there(out):
    """How many files there are of each name, and how large: without what is work in progress."""
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names)
    shown = [path for path in paths if ".gradledger." not in path]
    return Counter((_OWN_NAMES.sub("…", os.path.relpath(path, out)), os.path.getsize(path)) for path in shown)


def is_sound(name, before, after, now):
    if name in FILE_BY_FILE:
        return {path for path, _ in now} <= {path for path, _ in after}
    return now in (before, after)


@pytest.fixture(scope="module")
def whole(runs, tmp_path_factory):
    """What each command leaves that nobody interrupts, and how long it takes."""
    found = {}

    def of(name):
        if name not in found:
            out = str(tmp_path_factory.mktemp("whole") / "out")
            begun = time.monotonic()
            _, process = begin(name, runs, out)
            _, said = process.communicate()
            assert process.returncode == 0, said
            found[name] = there(out), time.monotonic() - begun
        return found[name]

    return of


@pytest.mark.parametrize("way", ["SIGKILL", "SIGINT"])
@pytest.mark.parametrize("name", WRITING)
def test_a_command_that_is_ended(runs, whole, tmp_path, name, way):
    after, secs = whole(name)
    moments = random.Random(name)
    for at in range(MOMENTS):
        out = str(tmp_path / str(at))
        before, process = begin(name, runs, out)
        time.sleep(moments.uniform(0.2, secs))
        process.send_signal(getattr(signal, way))
        process.communicate()
        if way == "SIGKILL" or name not in REPORTS_WHAT_IT_HAS:
            assert is_sound(name, before, after, there(out)), process.returncode
        if way == "SIGINT":
            assert [entry for entry in os.listdir(out) if entry.startswith(".")] == []


def small_disk():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL_BYTES, FULL_BYTES))


@pytest.mark.parametrize("name", WRITING)
def test_a_command_whose_disk_is_full(runs, tmp_path, name):
    out = str(tmp_path / "out")
    before, process = begin(name, runs, out, preexec_fn=small_disk)
    _, said = process.communicate()
    assert process.returncode == 2
    assert "ile too large" in said
    assert f"'{out}/" in said
    assert there(out) == before
    assert [entry for entry in os.listdir(out) if entry.startswith(".")] == []
