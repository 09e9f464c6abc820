"""Event files on disks: appending to one whatever came before, finding them, reading one."""

import itertools
import os
import shutil
import sys

import pytest

from summaries.storage import local, names
from summaries.storage.local import LOCAL, LocalEventFile
from summaries.storage.names import is_event_file
from summaries.storage.protocols import LostFileError, ReplacedError


@pytest.fixture
def counter(monkeypatch):
    """The names' counter, beginning at 0 again."""
    monkeypatch.setattr(names, "counter", itertools.count())


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
    with open(file.path, "rb") as opened:
        return opened.read()


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


def test_an_error_of_a_file_that_is_there_is_no_loss(file, monkeypatch):
    def refused(*_args):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refused)
        with pytest.raises(PermissionError) as raised:
            file.append(memoryview(b"one"), 0)
    assert raised.value.filename == file.path


def test_the_end_is_cut_off_but_nothing_is_added(file):
    file.append(memoryview(b"onetwo"), 0)
    assert file.cut(3)
    assert (content(file), file.size()) == (b"one", 3)
    file.append(memoryview(b"2"), 3)
    os.truncate(file.path, 0)
    assert file.cut(3)
    assert content(file) == b""


def test_a_file_that_cannot_be_opened_has_nothing_to_cut_off_if_nothing_was_written(file, monkeypatch):
    def none_left(*_):
        raise OSError(24, "Too many open files")

    def half(fd, data):
        if len(data) == 1:
            raise OSError(28, "No space left on device")
        return write(fd, data[: len(data) // 2])

    write = os.write
    file.append(memoryview(b"one"), 0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", none_left)
        with pytest.raises(OSError, match="Too many open files"):
            file.append(memoryview(b"two"), 3)
        assert file.cut(3)
        assert not file.cut(2)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", half)
        with pytest.raises(OSError, match="No space left"):
            file.append(memoryview(b"two"), 3)
        patch.setattr(os, "open", none_left)
        assert not file.cut(3)  # a half of it is there
    assert file.cut(3)
    assert content(file) == b"one"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a descriptor is of")
def test_a_sync_that_fails(file, monkeypatch):
    """Its pages count as clean from then on, so that the next sync would not fail: the file is lost."""

    def fail(_fd):
        raise OSError(5, "Input/output error")

    file.append(memoryview(b"one"), 0)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LostFileError, match="the disk did not take it: Input/output error"):
        file.sync()


def test_an_error_of_write_names_the_file(file, monkeypatch):
    def full(fd, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space left") as raised:
        file.append(memoryview(b"one"), 0)
    assert (raised.value.errno, raised.value.filename) == (28, file.path)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a descriptor is of")
def test_sync(tmp_path, monkeypatch):
    """The file's bytes, then the directories whose names are new; once."""
    synced = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.path.realpath(f"/proc/self/fd/{fd}")))
    file = LocalEventFile(str(tmp_path / "a" / "b"), 0.0)
    path = os.path.realpath(file.path)
    file.sync()
    assert (synced[0], set(synced[1:])) == (
        path,
        {os.path.dirname(path), *map(os.path.realpath, (tmp_path / "a", tmp_path))},
    )
    synced.clear()
    file.sync()
    assert synced == [path]


def test_read_range(tmp_path):
    (tmp_path / "file").write_bytes(b"bytes!")
    with LOCAL.open(str(tmp_path / "file")) as file:
        assert [file.read_range(start, 4) for start in (2, 0, 4, 6, 100)] == [b"tes!", b"byte", b"s!", b"", b""]
        assert file.read_range(0, 0) == b""
    with pytest.raises(ValueError, match="closed"):
        file.read_range(0, 1)


@pytest.mark.skipif(not hasattr(os, "pread"), reason="needs pread")
def test_what_is_read_does_not_move_the_place_that_a_forked_child_shares(tmp_path):
    (tmp_path / "a.tfevents").write_bytes(b"bytes!")
    with LOCAL.open(str(tmp_path / "a.tfevents")) as file:
        assert file.read_range(2, 3) == b"tes"
        assert file.read_into(1, memoryview(bytearray(4))) == 4
        assert os.lseek(file.fileno(), 0, os.SEEK_CUR) == 0


def test_read_range_in_small_pieces(tmp_path, monkeypatch):
    """The system may give less than it was asked for."""
    (tmp_path / "file").write_bytes(b"bytes!")
    name = "pread" if hasattr(os, "pread") else "read"
    read = getattr(os, name)
    monkeypatch.setattr(os, name, lambda fd, size, *at: read(fd, min(size, 2), *at))
    with LOCAL.open(str(tmp_path / "file")) as file:
        assert file.read_range(1, 4) == b"ytes"
        assert file.read_range(1, 9) == b"ytes!"


@pytest.mark.parametrize(("start", "size", "expected"), [(0, 3, b"byt"), (4, 3, b"s!\0"), (6, 3, b"\0" * 3)])
def test_read_into(tmp_path, start, size, expected):
    (tmp_path / "file").write_bytes(b"bytes!")
    buffer = bytearray(size)
    with LOCAL.open(str(tmp_path / "file")) as file:
        assert file.read_into(start, memoryview(buffer)) == len(expected.rstrip(b"\0"))
    assert buffer == expected


def listed(path, **options):
    return sorted(LOCAL.discover(str(path), **options), key=lambda file: file.path)


@pytest.fixture
def tree(tmp_path):
    for name, size in {"a.tfevents": 1, "b/c.tfevents": 2, "b/notes.txt": 3, "b/d/e.tfevents": 0}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
    return tmp_path


def test_discover(tree):
    files = listed(tree)
    paths = [tree / "a.tfevents", tree / "b" / "c.tfevents", tree / "b" / "d" / "e.tfevents"]
    assert [(file.path, file.size) for file in files] == [(str(path), path.stat().st_size) for path in paths]
    assert [file.storage for file in files] == [LOCAL] * 3
    assert listed(tree, recursive=False) == files[:1]


def test_discover_a_file_whatever_its_name_is(tree):
    path = str(tree / "b" / "notes.txt")
    (file,) = listed(path)
    assert (file.path, file.size) == (path, 3)


@pytest.mark.parametrize("name", ["nowhere", "a.tfevents/below", "link"])
def test_discover_what_is_not_there(tree, name):
    os.symlink("nowhere", tree / "link")
    with pytest.raises(FileNotFoundError) as raised:
        listed(tree / name)
    assert str(raised.value) == f"no such file or directory: {tree / name}"


def test_an_identity_is_of_one_version(tree):
    path = tree / "a.tfevents"
    (before,) = listed(path)
    assert listed(path) == [before]
    with path.open("ab") as file:
        file.write(b"more")
    (grown,) = listed(path)
    (tree / "other").write_bytes(path.read_bytes())
    os.utime(tree / "other", ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    os.replace(tree / "other", path)
    (replaced,) = listed(path)
    assert len({before.identity, grown.identity, replaced.identity}) == 3
    assert (grown.size, replaced.size) == (5, 5)


def test_a_directory_that_cannot_be_listed(tree, refuse_to_list):
    refuse_to_list("b")
    with pytest.raises(PermissionError, match="Permission denied"):
        listed(tree)
    errors = []
    assert [file.path for file in listed(tree, on_error=errors.append)] == [str(tree / "a.tfevents")]
    assert [(type(error), error.filename) for error in errors] == [(PermissionError, str(tree / "b"))]


def test_what_vanishes_while_it_is_listed_is_passed_over(tree, monkeypatch):
    """A file between its directory's listing and the question for its size; a directory after its parent's listing."""
    real = os.scandir

    def removing(name):
        if name == "c.tfevents":
            os.remove(tree / "b" / name)
        return is_event_file(name)

    def scandir(path):
        if path == str(tree / "b" / "d"):
            shutil.rmtree(path)
        return real(path)

    monkeypatch.setattr(local, "is_event_file", removing)
    monkeypatch.setattr(os, "scandir", scandir)
    assert [file.path for file in listed(tree)] == [str(tree / "a.tfevents")]


def test_what_is_found_and_opened_in_vain_says_why(tree, monkeypatch):
    """A link to nowhere, and a file that we are told nothing about: their sizes are unknown."""
    os.symlink("nowhere", tree / "b" / "link.tfevents")
    real = os.stat

    def refusing(path, *arguments, **options):
        if str(path).endswith("e.tfevents"):
            raise PermissionError(13, "Permission denied", path)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refusing)
    *_, closed, link = listed(tree)
    assert (closed.size, closed.identity, link.size, link.identity) == (0, None, 0, None)
    with pytest.raises(FileNotFoundError) as raised:
        link.open()
    assert str(raised.value) == f"[Errno 2] No such file or directory: {link.path!r}"


def test_a_file_that_vanished_since_it_was_found(tree):
    file = listed(tree)[0]
    os.remove(file.path)
    with pytest.raises(FileNotFoundError, match="No such file or directory"):
        file.open()


def test_links(tree):
    """One to a file is that file, under its name; one to a directory is not followed if that is found without it."""
    os.symlink("a.tfevents", tree / "link.tfevents")
    os.symlink("b", tree / "link")
    os.symlink("b", tree / "directory.tfevents")
    files = listed(tree)
    assert [os.path.basename(file.path) for file in files] == [
        "a.tfevents",
        "c.tfevents",
        "e.tfevents",
        "link.tfevents",
    ]
    assert files[0].identity == files[-1].identity
    assert [os.path.basename(file.path) for file in listed(tree / "link")] == ["c.tfevents", "e.tfevents"]


def paths_below(directory):
    return [os.path.relpath(file.path, directory).replace(os.sep, "/") for file in listed(directory)]


def test_a_tree_of_links(tree, tmp_path):
    """As TensorBoard recommends it, to choose some of many runs."""
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    os.symlink(tree / "b", chosen / "one")
    os.symlink(tree / "b", chosen / "two")
    assert paths_below(chosen) == ["one/c.tfevents", "one/d/e.tfevents"]
    assert [os.path.basename(file.path) for file in listed(chosen, recursive=False)] == []


def test_links_in_a_circle(tree):
    runs, outside = tree / "b", tree / "outside"
    outside.mkdir()
    (outside / "o.tfevents").write_bytes(b"")
    os.symlink(outside, runs / "out")
    os.symlink(runs, outside / "back")
    os.symlink(tree, runs / "above")  # what contains the directory is not a part of it
    assert paths_below(runs) == ["c.tfevents", "d/e.tfevents", "out/o.tfevents"]


def test_exists(tree):
    os.symlink("nowhere", tree / "link")
    assert [LOCAL.exists(str(tree / name)) for name in ("a.tfevents", "b", "link", "nowhere")] == [
        True,
        True,
        True,
        False,
    ]


def test_a_part_is_of_the_listed_file_even_if_it_has_grown(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"one")
    (file,) = LOCAL.discover(str(path))
    path.write_bytes(b"one more")
    with file.open(0, 3) as opened:
        assert opened.read_range(0, 9) == b"one more"
    (tmp_path / "new").write_bytes(b"two")
    os.replace(tmp_path / "new", path)
    with pytest.raises(ReplacedError, match="replaced by another file while it was being read"):
        file.open(0, 3)
    with file.open(0) as opened:
        assert opened.read_range(0, 9) == b"two"
