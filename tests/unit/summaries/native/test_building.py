"""The library says what it was made of, so that nobody runs an old one unknowingly. `make package` makes it again."""

import subprocess
import sys
from pathlib import Path

from summaries.native import building
from summaries.native.targets import DIRECTORY, TARGETS, built_from


def test_what_it_is_made_of_is_in_it():
    digest, *packages = built_from(str(Path(DIRECTORY, building.host().file))).split()
    assert digest == building.sources()
    assert [package.partition("-")[0] for package in packages] == ["numba", "llvmlite", "ziglang"]


def test_a_library_of_other_sources_is_stale(tmp_path, monkeypatch):
    assert building.stale() == []
    assert building.stale(str(tmp_path), everywhere=True) == list(TARGETS.values())
    monkeypatch.setattr(building, "sources", lambda: "0123456789abcdef")
    assert building.stale() == [building.host()]


def test_the_check_names_what_is_stale(tmp_path):
    command = [sys.executable, "-m", "summaries.native.building", "--check", "--output", tmp_path]
    done = subprocess.run(command, cwd=building.ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stdout == f"{building.host().file} is missing, or was made of other sources\n"


def test_the_sources_are_all_that_is_imported():
    names = {path.relative_to(building.ROOT).as_posix() for path in building._closure(building.modules())}
    assert {"summaries/wire/compiled/primitives.py", "summaries/wire/layout.py", "summaries/wire/crc32c.py"} <= names
    assert not any(name.startswith("summaries/auditing") for name in names)
