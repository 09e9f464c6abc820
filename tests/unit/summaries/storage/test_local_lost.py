"""What others do to an event file or to its path: nothing is written into what is no longer the file."""

import os
import shutil

import pytest

from summaries.storage.local import LocalEventFile
from summaries.storage.protocols import LostFileError


def cut_short(path):
    os.truncate(path, 1)


def emptied(path):
    os.truncate(path, 0)


def written_by_others(path):
    with open(path, "ab") as other:
        other.write(b"x")


def written_by_others_at_length(path):
    with open(path, "ab") as other:
        other.write(b"theirs")


def removed(path):
    os.remove(path)


def renamed(path):
    os.rename(path, path + ".1")


def copied_and_replaced(path):
    shutil.copy(path, path + ".1")
    os.replace(path + ".1", path)


def removed_and_made_again(path):
    """The new file may have the old one's inode."""
    os.remove(path)
    with open(path, "wb") as other:
        other.write(b"their bytes")


def replaced_by_a_link(path):
    with open(path + ".precious", "wb") as other:
        other.write(b"one")
    os.remove(path)
    os.symlink(path + ".precious", path)


def replaced_by_a_hard_link(path):
    with open(path + ".precious", "wb") as other:
        other.write(b"one")
    os.remove(path)
    os.link(path + ".precious", path)


def replaced_by_a_pipe(path):
    os.remove(path)
    os.mkfifo(path)


def replaced_by_a_directory(path):
    os.remove(path)
    os.mkdir(path)


def directory_moved(path):
    os.rename(os.path.dirname(path), os.path.dirname(path) + ".moved")


CUT = "it was cut short or written by others"
GONE = "it was removed, renamed or replaced"
LOSSES = {
    cut_short: CUT, emptied: CUT, written_by_others: CUT, written_by_others_at_length: CUT, removed: GONE,
    renamed: GONE, copied_and_replaced: GONE, removed_and_made_again: "it was ", replaced_by_a_link: GONE,
    replaced_by_a_hard_link: GONE, replaced_by_a_pipe: GONE, replaced_by_a_directory: GONE, directory_moved: GONE,
}  # fmt: skip


def below(top):
    """What is below a directory: the contents of files, and None for anything else."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in top.rglob("*")}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has pipes and inodes")
@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("call", ["append", "sync"])
def test_nothing_is_written_into_what_is_no_longer_our_file(tmp_path, lose, call):
    file = LocalEventFile(str(tmp_path / "run"), 0.0)
    file.append(memoryview(b"one"), 0)
    lose(file.path)
    before = below(tmp_path)
    if call == "sync" and LOSSES[lose] in (CUT, "it was "):
        pytest.skip("it is found when the next bytes are appended")
    with pytest.raises(LostFileError) as raised:
        file.append(memoryview(b"two"), 3) if call == "append" else file.sync()
    assert raised.value.filename == file.path
    assert raised.value.strerror.startswith(LOSSES[lose])
    if LOSSES[lose] == GONE:  # what is at the path is somebody else's
        file.discard()
        assert not file.cut(0)
    assert below(tmp_path) == before
