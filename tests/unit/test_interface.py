"""What tests/interface.py takes for a change that the change log has to name."""

import subprocess

import interface

BEFORE = {
    "lib/__init__.py": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from lib.inside import moved as moved, options as options
""",
    "lib/inside.py": """
def moved(a, *, b=1, _own=None): ...
def options(**options): ...
def private(): ...
""",
    "lib/open.py": """
__all__ = ["Thing", "gone"]
class Thing:
    def __init__(self, size): ...
    def at(self, step): ...
def gone(): ...
""",
    "docs/api/lib.rst": ".. py:currentmodule:: lib\n\n.. automodule:: lib.open\n",
    "docs/releases/0.1.0.md": "# lib 0.1.0\n",
}
AFTER = {
    "lib/__init__.py": BEFORE["lib/__init__.py"].replace("inside", "elsewhere"),
    "lib/elsewhere.py": """
def moved(a, *, new=None): ...
def options(**more): ...
""",
    "lib/open.py": """
__all__ = ["Thing"]
class Thing:
    def __init__(self, size, name): ...
    def at(self, step, near=0): ...
""",
}


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def git(root, *arguments):
    me = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *me, *arguments], cwd=root, check=True, capture_output=True)


def test_public_names_are_compared_wherever_they_are_defined(tmp_path):
    write(tmp_path, BEFORE)
    git(tmp_path, "init")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-m", "first")
    release = interface.last_release(tmp_path)
    assert interface.changes("lib", release, tmp_path) == []
    (tmp_path / "lib" / "inside.py").unlink()
    write(tmp_path, AFTER)
    found = interface.changes("lib", release, tmp_path)
    # Neither what is private, nor what moved, nor another name of `**options`.
    assert sorted(map(interface.said, found)) == [
        "lib.elsewhere.moved: b: parameter was removed",
        "lib.open.Thing.__init__: name: parameter was added as required",
        "lib.open.gone: gone: public object was removed",
    ]
    assert not any(interface.is_named(change, "- `renamed`, `bb` and `ongoing` are new.") for change in found)
    assert all(interface.is_named(change, "- `name`, `b` and `open.gone` changed.") for change in found)


def test_the_release_is_the_last_tag_or_else_the_last_notes(tmp_path):
    git(tmp_path, "init")
    assert interface.last_release(tmp_path) is None
    write(tmp_path, BEFORE)
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-m", "first")
    first = interface.last_release(tmp_path)
    write(tmp_path, {"lib/later.py": ""})
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "-m", "second")
    assert interface.last_release(tmp_path) == first
    git(tmp_path, "tag", "v0.1.1")
    assert interface.last_release(tmp_path) == "v0.1.1"
