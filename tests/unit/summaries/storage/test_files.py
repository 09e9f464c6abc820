"""The one door: which storage a path is in, and that nobody finds or opens files but through it."""

import ast
from pathlib import Path

import pytest

import summaries
from summaries.storage import files, remote
from summaries.storage.files import created, is_vacant, place_of, read_file, write_file, write_temporary
from summaries.storage.local import LOCAL

PACKAGE = Path(summaries.__file__).parent
OS = {"listdir", "lstat", "open", "scandir", "stat", "walk"}
OS_PATH = {"exists", "getmtime", "getsize", "isdir", "isfile", "islink", "lexists"}
MODULES = {"glob", "pathlib", "shutil", "tempfile"}
ALLOWED = {
    ("cli/views/output.py", "open"),  # the report that --output names
    ("auditing/comparison/hyperparameters.py", "open"),  # the table that --table names
    ("auditing/config.py", "open"),  # the configuration, and where it is
    ("auditing/config.py", "os.path.isfile"),
    ("auditing/spool.py", "import tempfile"),  # reports of very many runs
    ("execution/dask.py", "open"),  # the file that --dask names
    ("cli/program.py", "open"),  # /dev/null, where somebody has closed standard output
    ("cli/program.py", "os.open"),
    ("tools/annotating.py", "open"),  # the new files that `outputs` gives names to
    ("tools/rewriting/copying.py", "open"),
    ("tools/rewriting/merging.py", "open"),
    ("tools/exporting/__init__.py", "open"),  # the table that is written
}


def name_of(node):
    """A dotted name, as `os.path.isfile`; "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{name_of(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def uses_of(source):
    """Every use of a function that finds or opens files, and every import of what does."""
    forbidden = {f"os.{name}" for name in OS} | {f"os.path.{name}" for name in OS_PATH}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and name_of(node.func) in {"open", "io.open", "io.FileIO", "FileIO"}:
            yield name_of(node.func)
        elif isinstance(node, ast.Attribute) and name_of(node) in forbidden:
            yield name_of(node)
        elif isinstance(node, ast.ImportFrom) and node.module in {"os", "os.path", *MODULES}:
            yield from (f"from {node.module} import {alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (f"import {alias.name}" for alias in node.names if alias.name in MODULES)


def test_nobody_finds_or_opens_files_but_through_the_door():
    """Exactly the exceptions: one that is not needed any more is no exception."""
    sources = {path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    found = {
        (name, use)
        for name, source in sources.items()
        if not name.startswith(("storage/", "native/"))  # compiled code, which has a place of its own
        for use in uses_of(source)
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("open(path)", ["open"]),
        ("with io.open(path) as file: pass", ["io.open"]),
        ("sum(map(os.path.getsize, files))", ["os.path.getsize"]),
        ("os.stat(path).st_size", ["os.stat"]),
        ("from os import walk", ["from os import walk"]),
        ("from pathlib import Path", ["from pathlib import Path"]),
        ("import glob, os", ["import glob"]),
        ("file.open(); wave.open(buffer); os.fspath(path); os.path.join(a, b)", []),
    ],
)
def test_the_door_is_watched(source, expected):
    assert list(uses_of(source)) == expected


def test_place_of(monkeypatch):
    """An address is shown without credentials; what opens it gets all of it, with its options."""
    monkeypatch.setattr(remote, "storage_of", lambda *arguments: arguments)
    assert place_of("runs/a", storage_options={"anon": True}, cache=True) == (LOCAL, "runs/a")
    assert place_of("gs://bucket/a") == (("gs://bucket/a", {}, False), "gs://bucket/a")
    access = {"storage_options": {"anon": True}, "cache": "here"}
    assert place_of("s3://key:secret@bucket", **access) == (
        ("s3://key:secret@bucket", {"anon": True}, "here"),
        "s3://***@bucket",
    )


def test_write_and_read_a_file(tmp_path):
    path = str(tmp_path / "new" / "graph.pbtxt")
    assert read_file(path) is None
    write_file(path, b"old")
    write_file(path, b"new")
    assert read_file(path) == b"new"
    assert [entry.name for entry in (tmp_path / "new").iterdir()] == ["graph.pbtxt"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    path = str(tmp_path / "graph.pbtxt")
    write_file(path, b"old")
    monkeypatch.setattr(files.os, "replace", full)
    with pytest.raises(OSError, match="No space left") as raised:
        write_file(path, b"new")
    assert raised.value.filename == path
    assert read_file(path) == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_fails_leaves_what_was_there(tmp_path):
    target = tmp_path / "report"
    target.write_text("old")
    with pytest.raises(ZeroDivisionError), created(str(target)) as path:
        Path(path).write_text(str(1 / 0))
    assert [file.name for file in tmp_path.iterdir()] == ["report"]
    assert target.read_text() == "old"
    target.chmod(0o640)
    (tmp_path / "link").symlink_to("report")
    with created(str(tmp_path / "link")) as path:
        Path(path).write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)


def test_a_directory_is_no_file_to_write(tmp_path):
    with pytest.raises(IsADirectoryError), created(str(tmp_path)):
        pytest.fail("it was entered")
    with pytest.raises(FileNotFoundError) as raised, created(str(tmp_path / "no/such")):
        pytest.fail("it was entered")
    assert raised.value.filename == str(tmp_path / "no/such")


def test_what_is_vacant(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    paths = (tmp_path, *(tmp_path / name for name in ("missing", "empty", "file", "link")))
    assert [is_vacant(str(path)) for path in paths] == [False, True, True, False, False]


def test_a_temporary_file(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    addresses = {write_temporary("a b.html", b"page") for _ in range(2)}
    assert len(addresses) == 2
    assert addresses == {path.as_uri() for path in tmp_path.glob("gradledger-*/a b.html")}
    assert {path.read_bytes() for path in tmp_path.glob("*/*")} == {b"page"}
