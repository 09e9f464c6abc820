"""Does each finding of an attack have a test that failed before? Takes back what mended it, and runs its tests.

    PYTHONPATH=tests .venv/bin/python -m mutation.attacks          all of them, in some minutes
    PYTHONPATH=tests .venv/bin/python -m mutation.attacks F2 F19   some of them

`undone.py` says what is taken back, `tests/unit/test_attacks.py` which tests each finding has. The changes are made in
a copy of the repository. Exit status 1: a mend was taken back, and no test failed.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from mutation.trees import TOO_LONG, copy_of_repository, run_tests
from mutation.undone import UNDONE, Undone
from unit.test_attacks import FOUND

SECS = 90.0  # what hangs is as good as red
_SLOW = "unit/summaries/writing/test_run_file_instructions.py"
_FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


def main(wanted: list[str]) -> int:
    """Print a line for each mend: what was taken back, and the test that failed."""
    unnoticed = 0
    with tempfile.TemporaryDirectory() as directory:
        tree = copy_of_repository(Path(directory) / "tree")
        for found, mends in UNDONE.items():
            if wanted and found not in wanted:
                continue
            tests = tests_of(found)
            if failure := run_tests(tree, tests):
                raise SystemExit(f"{failure}\nThe tests of {found} fail before anything is undone")
            for mend in mends:
                red = outcome(tree, mend, tests)
                unnoticed += not red
                print(f"{found:4} {mend.what}\n     {red or 'NO TEST FAILS'}", flush=True)
    print(f"{unnoticed} mends were taken back without a test that failed")
    return int(unnoticed > 0)


def tests_of(found: str) -> list[str]:
    """The tests of a finding, without those of `make crash`, which take minutes: each has another, too."""
    (files,) = (files for name, files in FOUND.items() if name == found or name.startswith(f"{found} "))
    unit = {path: names for path, names in files.items() if not path.startswith("crash/") and path != _SLOW}
    return [f"tests/{path}::{name}" for path, names in unit.items() for name in names]


def outcome(tree: Path, mend: Undone, tests: list[str]) -> str:
    """The first test that fails without a mend; "" if all pass."""
    before: dict[Path, str] = {}
    try:
        for edit in mend.edits:
            path = tree / edit.path
            text = path.read_text(encoding="utf-8")
            before.setdefault(path, text)
            path.write_text(text.replace(edit.mended, edit.undone), encoding="utf-8")
        said = run_tests(tree, tests, SECS)
    finally:
        for path, text in before.items():
            path.write_text(text, encoding="utf-8")
    if said is None or said == TOO_LONG:
        return "it hangs, as it did then" if said else ""
    failed = _FAILED.search(said)
    return failed[1] if failed else said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
