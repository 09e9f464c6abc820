"""A directory → its event files, in reading order."""

import os

import pytest

from summaries.storage.logdir import event_files, run_directories


@pytest.fixture
def tree(tmp_path):
    for name in [
        "events.out.tfevents.2.vm",
        "events.out.tfevents.10.vm",
        "notes.txt",
        "b/events.out.tfevents.1.vm",
        "a/events.out.tfevents.1.vm",
        "a/c/old.tfevents",
        "a/tfevents/notes.txt",
    ]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "empty").mkdir()
    return tmp_path


def found(tree, *names):
    return [os.path.relpath(path, tree).replace(os.sep, "/") for path in event_files([tree / name for name in names])]


EXPECTED = [
    ([], []),
    (["a/c"], ["a/c/old.tfevents"]),
    (["a"], ["a/events.out.tfevents.1.vm", "a/c/old.tfevents"]),
    (
        ["."],
        [
            "events.out.tfevents.10.vm",
            "events.out.tfevents.2.vm",
            "a/events.out.tfevents.1.vm",
            "a/c/old.tfevents",
            "b/events.out.tfevents.1.vm",
        ],
    ),
    (["b", "a/c"], ["b/events.out.tfevents.1.vm", "a/c/old.tfevents"]),
    (["notes.txt"], ["notes.txt"]),
]


@pytest.mark.parametrize(("names", "expected"), EXPECTED)
def test_event_files(tree, names, expected):
    assert found(tree, *names) == expected


def test_no_such_path(tree):
    with pytest.raises(FileNotFoundError) as raised:
        found(tree, "nowhere")
    assert str(raised.value) == f"no such file or directory: {tree / 'nowhere'}"


@pytest.mark.parametrize("name", ["empty", "a/tfevents"])
def test_no_event_file(tree, name):
    with pytest.raises(FileNotFoundError) as raised:
        found(tree, name)
    assert str(raised.value) == f"no event file (a name with 'tfevents' in it) below {tree / name}"


def test_a_directory_that_cannot_be_read_is_not_passed_over(tree, refuse_to_list):
    refuse_to_list("b")
    with pytest.raises(PermissionError, match="Permission denied"):
        found(tree, ".")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_event_file(tmp_path):
    """Reading it would wait for ever."""
    (tmp_path / "a.tfevents").write_bytes(b"")
    os.mkfifo(tmp_path / "b.tfevents")
    assert list(event_files([tmp_path])) == [str(tmp_path / "a.tfevents")]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no such device")
def test_a_device_is_no_event_file(tmp_path):
    """It has no end."""
    (tmp_path / "a.tfevents").write_bytes(b"")
    os.symlink("/dev/zero", tmp_path / "b.tfevents")
    assert list(event_files([tmp_path])) == [str(tmp_path / "a.tfevents")]


def test_a_directory_that_cannot_be_read(tree, refuse_to_list):
    refuse_to_list("shut")
    whole = run_directories(tree)
    (tree / "shut").mkdir()
    with pytest.raises(PermissionError):
        run_directories(tree)
    errors = []
    assert run_directories(tree, errors.append) == whole
    assert [error.filename for error in errors] == [str(tree / "shut")]
