"""A place → its runs → their event files, in reading order."""

import os

import pytest

from summaries.storage.logdir import files_below, run_directories, run_files


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
    return [path for name in names for path in relative(tree, files_below(tree / name))]


def relative(tree, files):
    return [os.path.relpath(file.path, tree).replace(os.sep, "/") for file in files]


EXPECTED = [
    ([], []),
    (["a/c"], ["a/c/old.tfevents"]),
    (["a"], ["a/events.out.tfevents.1.vm", "a/c/old.tfevents"]),
    (
        ["."],
        [
            "events.out.tfevents.2.vm",
            "events.out.tfevents.10.vm",
            "a/events.out.tfevents.1.vm",
            "a/c/old.tfevents",
            "b/events.out.tfevents.1.vm",
        ],
    ),
    (["b", "a/c"], ["b/events.out.tfevents.1.vm", "a/c/old.tfevents"]),
    (["notes.txt"], ["notes.txt"]),
]


@pytest.mark.parametrize(("names", "expected"), EXPECTED)
def test_files_below(tree, names, expected):
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


def test_the_files_of_other_directories_are_still_listed(tree, refuse_to_list):
    refuse_to_list("a")
    errors = []
    assert relative(tree, files_below(tree, errors.append)) == [
        "events.out.tfevents.2.vm",
        "events.out.tfevents.10.vm",
        "b/events.out.tfevents.1.vm",
    ]
    assert [type(error) for error in errors] == [PermissionError]


def test_runs(tree):
    runs = {name: relative(tree, files) for name, files in run_directories(tree).items()}
    assert runs == {
        ".": ["events.out.tfevents.2.vm", "events.out.tfevents.10.vm"],
        "a": ["a/events.out.tfevents.1.vm"],
        "a/c": ["a/c/old.tfevents"],
        "b": ["b/events.out.tfevents.1.vm"],
    }
    assert list(runs) == sorted(runs)


def test_runs_and_the_runs_below_them(tree):
    """Runs are sorted by their names; files as one walks through the directories."""
    (tree / "a-b").mkdir()
    (tree / "a-b" / "x.tfevents").touch()
    assert list(run_directories(tree)) == [".", "a", "a-b", "a/c", "b"]
    assert [os.path.dirname(path) for path in found(tree, ".")] == ["", "", "a", "a/c", "a-b", "b"]


def test_one_file_is_a_run_where_it_may_be(tree):
    path = tree / "notes.txt"
    assert {name: relative(tree, files) for name, files in run_directories(path, lone="notes").items()} == {
        "notes": ["notes.txt"]
    }
    with pytest.raises(FileNotFoundError) as raised:
        run_directories(path)
    assert str(raised.value) == f"no such directory: {path}"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (".", ["events.out.tfevents.2.vm", "events.out.tfevents.10.vm"]),
        ("a", ["a/events.out.tfevents.1.vm"]),
        ("notes.txt", ["notes.txt"]),
    ],
)
def test_files_of_one_run(tree, name, expected):
    assert relative(tree, run_files(tree / name)) == expected


def test_no_files_of_one_run(tree):
    with pytest.raises(FileNotFoundError) as raised:
        run_files(tree / "empty")
    assert str(raised.value) == f"no event file (a name with 'tfevents' in it) in {tree / 'empty'}"
    for name in ("events.out.tfevents.2.vm", "events.out.tfevents.10.vm"):
        (tree / name).unlink()
    with pytest.raises(FileNotFoundError) as raised:
        run_files(tree)
    assert str(raised.value) == (
        f"no event file (a name with 'tfevents' in it) in {tree}; there are runs below it, such as {tree / 'a'}"
    )
    with pytest.raises(FileNotFoundError) as raised:
        run_files(tree / "nowhere")
    assert str(raised.value) == f"no such file or directory: {tree / 'nowhere'}"


def test_a_directory_that_cannot_be_read(tree, refuse_to_list):
    refuse_to_list("shut")
    whole = run_directories(tree)
    (tree / "shut").mkdir()
    with pytest.raises(PermissionError):
        run_directories(tree)
    errors = []
    assert run_directories(tree, errors.append) == whole
    assert [error.filename for error in errors] == [str(tree / "shut")]


def test_nothing_but_a_directory_that_cannot_be_read(tmp_path, refuse_to_list):
    refuse_to_list("shut")
    (tmp_path / "shut").mkdir()
    errors = []
    with pytest.raises(PermissionError):
        run_directories(tmp_path, errors.append)
    assert errors == []
