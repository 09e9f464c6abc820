"""Plain files: found, opened, created; and copies of those at addresses."""

import os

import fsspec
import pytest

from summaries.storage.plain import (
    at_hand,
    create_text,
    files_below,
    is_directory,
    open_bytes,
    open_text,
    text_below,
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
