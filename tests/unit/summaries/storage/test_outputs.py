"""New files and directories: whole under their name, or not there at all."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
import time

import fsspec
import pytest

from summaries.storage.files import write_file
from summaries.storage.outputs import new_directory, new_file, refuse_inside


def write(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def fail_inside(output, error):
    """Write something, then raise."""
    with output as path:
        write(path, "a", "half") if os.path.isdir(path) else write("", path, "half")
        raise error


@pytest.fixture
def store():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


def test_a_directory_appears_at_the_end(tmp_path):
    target = tmp_path / "deep" / "new"
    with new_directory(target) as directory:
        write(directory, "a/b", "whole")
        assert not target.exists()
    assert (target / "a" / "b").read_text() == "whole"
    assert os.listdir(tmp_path / "deep") == ["new"]


def test_a_directory_is_as_others_may_read_it(tmp_path):
    (tmp_path / "usual").mkdir()
    with new_directory(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_an_empty_directory_is_filled_and_a_link_to_one_followed(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    with new_directory(tmp_path / "link") as directory:
        write(directory, "a", "whole")
    assert (tmp_path / "empty" / "a").read_text() == "whole"
    assert (tmp_path / "link").is_symlink()


def test_a_directory_with_contents_is_refused_at_once(tmp_path):
    write(tmp_path / "old", "a", "old")
    with pytest.raises(FileExistsError) as caught, new_directory(tmp_path / "old"):
        pytest.fail("the block ran")
    want = f"the output must be a new directory or an empty one, got {tmp_path / 'old'}, which has contents"
    assert str(caught.value) == want
    assert os.listdir(tmp_path) == ["old"]


def test_a_directory_that_was_filled_meanwhile_is_refused_at_the_end(tmp_path):
    def fill():
        with new_directory(tmp_path / "new") as directory:
            write(directory, "a", "ours")
            write(tmp_path / "new", "a", "theirs")

    with pytest.raises(FileExistsError, match="which has contents"):
        fill()
    assert (tmp_path / "new" / "a").read_text() == "theirs"
    assert os.listdir(tmp_path) == ["new"]


@pytest.mark.parametrize("made", [new_directory, new_file])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_after_an_error(tmp_path, made, error):
    with pytest.raises(error):
        fail_inside(made(tmp_path / "new"), error)
    assert os.listdir(tmp_path) == []


def test_a_file_appears_at_the_end(tmp_path):
    with new_file(tmp_path / "deep" / "new") as path:
        write(tmp_path, path, "whole")
        assert not (tmp_path / "deep" / "new").exists()
    assert (tmp_path / "deep" / "new").read_text() == "whole"
    assert os.listdir(tmp_path / "deep") == ["new"]


def test_an_existing_file_is_refused_or_replaced(tmp_path):
    write(tmp_path, "old", "old")
    with pytest.raises(FileExistsError) as caught, new_file(tmp_path / "old"):
        pytest.fail("the block ran")
    assert str(caught.value) == f"the output must be a new file, got {tmp_path / 'old'}, which exists"
    with new_file(tmp_path / "old", replace=True) as path:
        write(tmp_path, path, "new")
        assert (tmp_path / "old").read_text() == "old"
    assert (tmp_path / "old").read_text() == "new"


def test_a_failure_leaves_the_file_that_was_to_be_replaced(tmp_path):
    write(tmp_path, "old", "old")
    with pytest.raises(ValueError, match="no"):
        fail_inside(new_file(tmp_path / "old", replace=True), ValueError("no"))
    assert (tmp_path / "old").read_text() == "old"
    assert os.listdir(tmp_path) == ["old"]


@pytest.mark.parametrize("new", [new_directory, new_file])
def test_a_name_is_needed(tmp_path, monkeypatch, new):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"^the output must have a name, got ''$"), new(""):
        pass
    assert os.listdir() == []


def test_the_current_directory_is_not_replaced(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for target in (".", tmp_path):
        with pytest.raises(FileExistsError) as raised, new_directory(target):
            pass
        assert str(raised.value) == f"the output must be another directory than the current one, got {target}"


def test_a_link_is_followed_or_replaced(tmp_path):
    write(tmp_path, "precious", "precious")
    (tmp_path / "link").symlink_to("precious")
    with new_file(tmp_path / "link", replace=True, follow=False) as path:
        write("", path, "new")
    assert ((tmp_path / "precious").read_text(), (tmp_path / "link").read_text()) == ("precious", "new")
    (tmp_path / "followed").symlink_to("precious")
    with new_file(tmp_path / "followed", replace=True) as path:
        write("", path, "new")
    assert (tmp_path / "followed").is_symlink()
    assert (tmp_path / "precious").read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_is_written_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with new_file(pipe, replace=True) as path:
        write("", path, "new")
    write_file(str(pipe), b"er")
    assert os.read(reader, 9) == b"newer"
    os.close(reader)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    with pytest.raises(FileExistsError, match="the output must be a new file"), new_file(pipe):
        pytest.fail("the block ran")


def test_a_directory_is_no_file(tmp_path):
    with pytest.raises(FileExistsError) as caught, new_file(tmp_path, replace=True):
        pytest.fail("the block ran")
    assert str(caught.value) == f"the output must be a file, got {tmp_path}, which is a directory"


def test_addresses(store):
    with new_directory("memory://place/run") as directory:
        write(directory, "b/c", "deep")
        write(directory, "a", "whole")
        assert store.find("/place") == []
    assert (store.cat("/place/run/a"), store.cat("/place/run/b/c")) == (b"whole", b"deep")
    with new_file("memory://place/table.csv") as path:
        write("", path, "table")
        assert not store.exists("/place/table.csv")
    assert store.cat("/place/table.csv") == b"table"
    for made, place in ((new_directory, "memory://place/run"), (new_file, "memory://place/table.csv")):
        with pytest.raises(FileExistsError) as caught, made(place):
            pytest.fail("the block ran")
        assert str(caught.value) == f"the output must be a new place, got {place}, which exists"
    with new_file("memory://place/table.csv", replace=True) as path:
        write("", path, "again")
    assert store.cat("/place/table.csv") == b"again"


@pytest.mark.parametrize("meanwhile", ["whole", "other"])
def test_an_object_that_has_come_meanwhile_is_not_replaced(store, meanwhile):
    """One with the same content may be what an attempt that seemed to fail has put there."""
    with contextlib.ExitStack() as stack:
        if meanwhile == "other":
            reason = "could not be written: another process has put an object there meanwhile"
            stack.enter_context(pytest.raises(FileExistsError, match=reason))
        with new_file("memory://place/table.csv") as path:
            write("", path, "whole")
            store.pipe_file("/place/table.csv", meanwhile.encode())
    assert store.cat("/place/table.csv") == meanwhile.encode()


def test_a_failure_uploads_nothing(store):
    with pytest.raises(ValueError, match="no"):
        fail_inside(new_directory("memory://place/run"), ValueError("no"))
    assert store.find("/place") == []


FILLS = """
import os, sys
from summaries.storage.outputs import new_directory
with new_directory(sys.argv[1]) as directory:
    print("started", flush=True)
    for number in range(300):
        with open(os.path.join(directory, str(number)), "w") as file:
            file.write("whole")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="only POSIX kills")
@pytest.mark.parametrize("delay", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_a_kill_leaves_all_or_nothing(tmp_path, delay):
    target = tmp_path / "new"
    with subprocess.Popen([sys.executable, "-c", FILLS, target], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(delay)
        process.kill()
    if target.exists():
        assert len(os.listdir(target)) == 300
    else:
        assert all(name.startswith(".gradledger.") and name.endswith(".tmp") for name in os.listdir(tmp_path))


@pytest.mark.parametrize(
    ("original", "target", "inside"),
    [
        ("runs", "runs/new", True),
        ("runs", "runs", False),  # refused because it has contents
        ("runs", "runs2", False),
        ("runs/a", "runs/b", False),
        (".", "new", True),
        ("link", "runs/new", True),
        ("runs", "link/new", True),
        ("s3://bucket/runs/", "s3://bucket/runs/new", True),
        ("s3://bucket/runs", "s3://bucket/runs2", False),
        ("runs", "s3://bucket/runs/new", False),
    ],
)
def test_output_inside_of_an_original(original, target, inside, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.makedirs("runs/a")
    os.symlink("runs", "link")
    if not inside:
        refuse_inside([original], target)
        return
    with pytest.raises(ValueError, match="outside") as caught:
        refuse_inside(["other", original], target)
    assert caught.value.args == (f"the output must be outside of {original}, which it is made from, got {target}",)
