"""Other files that a run has: written whole or not at all, and read where they are."""

import os

import pytest

from summaries.storage.files import create_event_file, read_file, write_file


def test_a_file_is_written_and_replaced(tmp_path):
    path = str(tmp_path / "new" / "file.txt")
    assert read_file(path) is None
    for data in (b"first", b"", b"second"):
        write_file(path, data)
        assert read_file(path) == data
    assert os.listdir(tmp_path / "new") == ["file.txt"]


def test_a_file_in_the_current_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_file("file.txt", b"data")
    assert read_file("file.txt") == b"data"


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = str(tmp_path / "file.txt")
    write_file(path, b"old")

    def refuse(source, target):
        raise OSError(28, "No space left on device", source)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space left") as raised:
        write_file(path, b"new")
    assert (raised.value.errno, raised.value.filename) == (28, path)
    assert read_file(path) == b"old"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_what_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(OSError, match="directory") as raised:
        read_file(str(tmp_path))
    assert raised.value.filename == str(tmp_path)


def test_an_event_file_appends_at_its_end(tmp_path):
    file = create_event_file(str(tmp_path / "run"), 1.5e9, ".x", b"")
    assert (file.size(), file.path.endswith(".x")) == (0, True)
    file.append(b"abc", 0)
    file.append(b"abcdef"[3:], 3)
    file.sync()
    assert (file.size(), read_file(file.path)) == (6, b"abcdef")
    file.discard()
    assert not os.path.exists(file.path)
