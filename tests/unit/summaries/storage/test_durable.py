"""Outputs that appear whole and stay: where work in progress lies, what is synced in which order, what is removed."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from summaries import SummaryWriter, export
from summaries.storage.durable import (
    is_scratch,
    make_directories,
    remove_leftovers,
    replaced,
    scratch_beside,
    untrusted,
)
from summaries.storage.logdir import run_directories
from summaries.storage.outputs import new_directory, new_file
from summaries.tools.rewriting.merging import merge
from summaries.tools.rewriting.repairing import repair

HOUR = 3600
posix = pytest.mark.skipif(not hasattr(os, "getuid"), reason="only POSIX tells owners, locks and descriptors")


@pytest.fixture
def calls(monkeypatch):
    """What is synced and renamed from now on, in order, with paths relative to the current directory."""
    calls = []
    fsync, replace, rename = os.fsync, os.replace, os.rename

    def synced(fd):
        calls.append(("sync", shown(os.path.realpath(f"/proc/self/fd/{fd}"))))
        fsync(fd)

    def moved(call):
        def move(source, target):
            calls.append(("to", shown(os.path.realpath(target))))
            call(source, target)

        return move

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", moved(replace))
    monkeypatch.setattr(os, "rename", moved(rename))
    return calls


def shown(path):
    """The path with "new" for a scratch and what is in it."""
    parts = ["scratch" if is_scratch(part) else part for part in Path(path).parts]
    parts = parts[parts.index("here") :] if "here" in parts else parts
    return "/".join(parts)


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a descriptor is of")


@linux
def test_a_file_is_synced_then_renamed_then_its_names(here, calls):
    with new_file("a/b/file") as path:
        Path(path).write_text("whole")
    assert calls == [
        ("sync", "here/a/b/scratch/file"),
        ("to", "here/a/b/file"),
        ("sync", "here/a/b"),
        ("sync", "here/a"),
        ("sync", "here"),
    ]


@linux
def test_a_directory_is_synced_with_all_below_then_renamed_then_its_names(here, calls):
    with new_directory("a/dir") as path:
        os.mkdir(os.path.join(path, "run"))
        Path(path, "run", "events").write_text("whole")
    assert calls == [
        ("sync", "here/a/scratch/dir"),
        ("sync", "here/a/scratch/dir/run/events"),
        ("sync", "here/a/scratch/dir/run"),
        ("to", "here/a/dir"),
        ("sync", "here/a"),
        ("sync", "here"),
    ]


@linux
@pytest.mark.parametrize("tool", ["repair", "merge", "csv", "dataset"])
def test_a_tool_has_synced_its_output_when_it_returns(here, calls, tool):
    with SummaryWriter("runs") as writer:
        writer.add_scalar("loss", 1.0, 1)
    name = os.path.basename(writer.path)
    calls.clear()
    if tool == "repair":
        repair("runs", "new")
    elif tool == "merge":
        merge(["runs"], "new")
    elif tool == "csv":
        export("runs", "new.csv")
    else:
        pytest.importorskip("pyarrow.parquet", reason="an extra")
        export("runs", "new")
    synced = {path for what, path in calls if what == "sync"}
    output = {
        "csv": {"here/scratch/new.csv", "here"},
        "dataset": {"here/new/scratch/part-00000.parquet", "here/new/scratch/_manifest.json", "here/new", "here"},
    }
    assert synced >= output.get(tool, {"here/scratch/new", f"here/scratch/new/{name}", "here"})


def test_what_a_cache_keeps_is_not_synced(here, calls):
    with replaced("file", durable=False) as path:
        Path(path).write_text("whole")
    assert calls == [("to", "here/file")]


@posix
def test_nobody_else_gets_into_a_scratch_and_its_name_is_random(here):
    with scratch_beside("file") as one, scratch_beside("file") as two:
        assert one != two
        assert os.stat(one).st_mode & 0o777 == 0o700
        assert str(os.getpid()) not in one
    assert os.listdir() == []


def test_a_leftover_of_the_same_process_number_is_in_nobodys_way(here):
    for number in range(30):
        os.mkdir(f".gradledger.{os.getpid()}.{number}.tmp")
    with new_directory("new"), new_file("file"):
        pass
    assert os.path.isdir("new")


def test_links_with_likely_names_are_not_followed(here):
    Path("precious").write_text("precious")
    for number in range(30):
        os.symlink("precious", f".gradledger.{os.getpid()}.{number}.tmp")
    with new_file("file") as path:
        Path(path).write_text("whole")
    assert Path("precious").read_text() == "precious"


def leave(name, *, age, note=None):
    """What a process that was killed an age ago, in seconds, left."""
    process = subprocess.run(
        [sys.executable, "-c", LEAVES],
        capture_output=True,
        check=False,
        text=True,
        env={**os.environ, "GL_AGE": str(age)},
    )
    left = process.stdout.strip()
    if note is not None:
        Path(left, ".gradledger").write_text(note)
        os.utime(os.path.join(left, ".gradledger"), (time.time() - age,) * 2)
    os.rename(left, name)


LEAVES = """
import os, time
from summaries.storage.durable import scratch_beside
with scratch_beside("file") as scratch:
    open(os.path.join(scratch, "file"), "w").close()
    when = time.time() - float(os.environ["GL_AGE"])
    os.utime(os.path.join(scratch, ".gradledger"), (when, when))
    print(os.path.basename(scratch), flush=True)
    os._exit(0)
"""


@posix
def test_leftovers_go_by_age_and_content_not_by_name(here):
    leave(".gradledger.old.tmp", age=2 * HOUR)
    leave(".gradledger.young.tmp", age=HOUR / 2)
    leave(".gradledger.theirs.tmp", age=2 * HOUR, note="my notes")
    os.mkdir(".gradledger.empty.tmp")
    os.utime(".gradledger.empty.tmp", (0, 0))
    Path("thesis.tmp").write_text("mine")
    with scratch_beside("file") as used:
        os.utime(os.path.join(used, ".gradledger"), (0, 0))  # it takes more than an hour
        remove_leftovers(".")
        left = {".gradledger.young.tmp", ".gradledger.theirs.tmp", ".gradledger.empty.tmp", "thesis.tmp"}
        assert set(os.listdir()) == {*left, os.path.basename(used)}
    remove_leftovers("missing")


def test_work_in_progress_is_no_run(here):
    with SummaryWriter("runs/a") as writer:
        writer.add_scalar("loss", 1.0, 1)
    with new_directory("runs/b") as path:
        Path(path, os.path.basename(writer.path)).write_bytes(Path(writer.path).read_bytes())
        assert list(run_directories("runs")) == ["a"]
    assert list(run_directories("runs")) == ["a", "b"]


@posix
def test_a_leftover_that_others_may_write_to_is_not_touched(here):
    """They could put a link in place of a directory while it is removed."""
    with scratch_beside("file") as scratch:
        note = Path(scratch, ".gradledger").read_bytes()
    for name, mode in ((".gradledger.open.tmp", 0o770), (".gradledger.ours.tmp", 0o700)):
        os.mkdir(name)
        os.chmod(name, mode)
        Path(name, ".gradledger").write_bytes(note)
        os.utime(os.path.join(name, ".gradledger"), (time.time() - 2 * HOUR,) * 2)
    remove_leftovers(".")
    assert os.listdir() == [".gradledger.open.tmp"]


def test_a_tree_deeper_than_functions_may_call_themselves(here):
    deep = os.path.join(*["d"] * (sys.getrecursionlimit() + 100))
    with new_directory("new") as path:
        make_directories(os.path.join(path, deep))
        Path(path, deep, "events").write_text("whole")
    assert Path("new", deep, "events").read_text() == "whole"
    with suppress(RuntimeError), new_directory("other") as path:
        make_directories(os.path.join(path, deep))
        raise RuntimeError
    assert os.listdir() == ["new"]
    with scratch_beside("new") as scratch:  # pytest's own clearing up calls itself
        os.rename("new", os.path.join(scratch, "new"))


def test_directories_that_get_a_new_name(here):
    assert make_directories("a/b") == [str(here / "a"), str(here)]
    assert make_directories("a/b") == []
    assert make_directories("a/b/c") == [str(here / "a/b")]


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_a_failure_leaves_what_was_there(here, monkeypatch, call):
    Path("file").write_text("old")

    def fail(*_args):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, call, fail)
        with pytest.raises(OSError, match="Input/output") as raised, replaced("file") as path:
            Path(path).write_text("new")
    assert raised.value.filename == "file"
    assert Path("file").read_text() == "old"
    assert os.listdir() == ["file"]


def write_too_much(path):
    """In a block: a file that is open tells that the disk is full, and not where."""
    with open(path if not os.path.isdir(path) else os.path.join(path, "file"), "wb") as file:
        file.write(b"x" * 5000)


@posix
@pytest.mark.parametrize("output", [new_file, new_directory])
def test_a_full_disk_is_told_with_the_name_of_the_output(here, output):
    import resource
    import signal

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, before[1]))
        with pytest.raises(OSError, match="too large") as raised, output("a/new") as path:
            write_too_much(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert raised.value.filename == str(here / "a" / "new")
    assert os.listdir("a") == []


@posix
@pytest.mark.parametrize(
    ("modes", "want"),
    [
        ((0o700, 0o700), ""),
        ((0o755, 0o755), ""),
        ((0o777, 0o700), "others may write to {above}"),
        ((0o770, 0o700), "others may write to {above}"),
        ((0o1777, 0o700), ""),
        ((0o700, 0o1777), "others may write to {below}"),
        ((0o700, 0o770), "others may write to {below}"),
    ],
)
def test_whom_a_directory_is_trusted_to(tmp_path, modes, want):
    above, below = tmp_path / "above", tmp_path / "above" / "below"
    below.mkdir(parents=True)
    below.chmod(modes[1])
    above.chmod(modes[0])
    assert untrusted(str(below)) == want.format(above=above, below=below)
    with suppress(FileNotFoundError):
        os.rmdir(below)
    assert untrusted(str(below)) == (want if "above" in want else "").format(above=above)


@posix
@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() != 0, reason="only root gives directories away")
def test_another_users_directory(tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, -1)
    assert untrusted(str(tmp_path / "theirs" / "new")) == f"{tmp_path / 'theirs'} belongs to another user"
