"""`make package`: build, check, unpack, install and use; `python -m package PYTHON`, which has what the tests need."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from package.artifacts import ROOT, build, tool
from package.environments import time_imports, try_all

DIST = ROOT / "dist"

# Of the source distribution's own tests, those that read what lies beside the packages: pages, examples, golden files.
TREE = [
    "tests/unit/test_[!i]*.py",  # all but test_import.py, which imports the packages in many processes
    "tests/documentation",
    "tests/interop/test_r*.py",
    "tests/unit/summaries/auditing/report",
]


def main(python: str) -> None:
    """Check everything, the quick parts first; the first complaint ends it."""
    for path in sorted(ROOT.glob(".github/workflows/*.yml")):
        print(tool("check-jsonschema", "--builtin-schema", "vendor.github-workflows", path).strip())
    citation = ["--builtin-schema", "vendor.citation-file-format", "--default-filetype", "yaml", ROOT / "CITATION.cff"]
    print(tool("check-jsonschema", *citation).strip())
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as directory:
        wheel, unpacked = build(DIST, Path(directory))
        try_tests(python, unpacked)
        environments = Path(directory, "environments")
        try_all(wheel, environments)
        time_imports(environments)


def try_tests(python: str, unpacked: Path) -> None:
    """Run the source distribution's tests where it is unpacked."""
    chosen = [path.relative_to(unpacked) for pattern in TREE for path in sorted(unpacked.glob(pattern))]
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    building = [ROOT / python, "-m", "summaries.native.building"]
    subprocess.run(building, cwd=unpacked, env=environment, check=True)
    command = [ROOT / python, "-m", "pytest", "--quiet", "--numprocesses", "2", "--dist", "loadfile", *chosen]
    if subprocess.run(command, cwd=unpacked, env=environment, check=False).returncode:
        sys.exit("the source distribution's own tests fail where it is unpacked")


if __name__ == "__main__":
    main(*sys.argv[1:])
