"""Plain files: found, opened, created; and copies of those at addresses."""

import os
import sqlite3

import fsspec
import pytest

from summaries.storage.plain import (
    at_hand,
    create_text,
    files_below,
    is_directory,
    open_below,
    open_bytes,
    open_database,
    open_text,
    text_below,
    text_of,
)


def test_a_local_path_is_at_hand(tmp_path):
    with at_hand(str(tmp_path)) as path:
        assert path == str(tmp_path)
    missing = str(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError) as caught, at_hand(missing):
        pass
    assert str(caught.value) == f"no such file or directory: {missing}"


def test_of_an_address_there_is_a_copy():
    fsspec.filesystem("memory").pipe_file("/plain/x.csv", b"content")
    with at_hand("memory://plain/x.csv") as path:
        assert os.path.basename(path) == "x.csv"
        with open_bytes(path) as file:
            assert file.read() == b"content"
    assert not os.path.exists(path)
    with pytest.raises(FileNotFoundError) as caught, at_hand("memory://user:secret@plain/y.csv"):
        pass
    assert str(caught.value) == "no such file: memory://***@plain/y.csv"


def test_text_is_text_whatever_the_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"\xef\xbb\xbfa\xff\r\nb")
    with open_text(str(path)) as file:
        assert file.read() == "a\\xff\nb"
    with open_text(str(path), newline="") as file:
        assert file.read() == "a\\xff\r\nb"
    with create_text(str(tmp_path / "new" / "y")) as file:
        file.write("ü\udc80\r\n\n")
    assert (tmp_path / "new" / "y").read_bytes() == "ü\\udc80\r\n\n".encode()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has pipes")
def test_links_and_pipes_are_told_and_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("\ufefftext\r\n", encoding="utf-8", newline="")
    (tmp_path / "link").symlink_to("file")
    others = []
    assert [files for _, _, files in files_below(str(tmp_path), others.append)] == [["file"]]
    assert others == [str(tmp_path / "link"), str(tmp_path / "pipe")]
    assert text_below(str(tmp_path / "file")) == "text\n"
    for path in others:
        with pytest.raises(OSError, match=r"symbolic links|regular file"):
            text_below(path)
    with pytest.raises(OSError, match="regular file"):
        open_bytes(str(tmp_path / "pipe"))


OPENED = {
    "text": lambda path: open_text(path).close(),
    "text below": text_below,
    "text of": text_of,
    "bytes": lambda path: open_bytes(path).close(),
    "bytes below": lambda path: open_below(path).close(),
    "a database": lambda path: open_database(path).__enter__(),
}


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="this system cannot open what is in an opened directory")
@pytest.mark.parametrize("opened", OPENED.values(), ids=OPENED)
@pytest.mark.parametrize("swapped", ["run/files/a", "run/files", "run"])
def test_a_link_that_is_put_in_the_place_of_what_was_listed_is_not_followed(tmp_path, opened, swapped):
    for top in ("place", "secret"):
        (tmp_path / top / "run" / "files").mkdir(parents=True)
        (tmp_path / top / "run" / "files" / "a").write_text(top)
    (tmp_path / "link").symlink_to("place")
    with at_hand(str(tmp_path / "link")) as place:
        (path,) = (os.path.join(folder, name) for folder, _, names in files_below(place + "/") for name in names)
        (tmp_path / "place" / swapped).rename(tmp_path / "gone")
        (tmp_path / "place" / swapped).symlink_to(tmp_path / "secret" / swapped)
        with pytest.raises(OSError, match=r"symbolic links|Not a directory") as raised:
            opened(path)
        assert raised.value.filename == path


def test_what_is_converted_may_be_a_link_itself_and_lie_behind_others(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x.csv").write_text("content")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "file").symlink_to("link/b/x.csv")
    for given in ("file", "link/b", "link"):
        with at_hand(str(tmp_path / given)) as place:
            below = [os.path.join(folder, name) for folder, _, names in files_below(place) for name in names]
            for path in below or [place]:
                with open_text(path) as file:
                    assert file.read() == "content"


def test_files_below_are_sorted_and_may_be_left_out(tmp_path):
    for name in ("b/2", "b/1", "a/c/3", "0"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = [(os.path.relpath(folder, tmp_path), files) for folder, _, files in files_below(str(tmp_path))]
    assert found == [(".", ["0"]), ("a", []), (os.path.join("a", "c"), ["3"]), ("b", ["1", "2"])]
    pruned = []
    for folder, folders, _ in files_below(str(tmp_path)):
        pruned.append(os.path.basename(folder))
        folders[:] = [name for name in folders if name != "a"]
    assert pruned[1:] == ["b"]
    assert (is_directory(str(tmp_path)), is_directory(str(tmp_path / "0"))) == (True, False)


def test_a_database_is_read_without_files_beside_it(tmp_path):
    """SQLite makes a log and an index beside one that had a log; on a disk that is not written to, it would fail."""
    path = tmp_path / "x.db"
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE metrics (step)")
    with open_database(str(path)) as database:  # what is in the log alone, too
        assert database.execute("SELECT name FROM sqlite_schema").fetchall() == [("metrics",)]
    writer.close()
    with open_database(str(path)) as database:
        assert database.execute("SELECT count(*) FROM metrics").fetchall() == [(0,)]
        assert os.listdir(tmp_path) == ["x.db"]
    assert os.listdir(tmp_path) == ["x.db"]
