"""Many steps, tags and runs, and a long hole, in every command: no file stays open, and memory stays within a bound.

`python -m benchmarks.big` does the same at full size: 10,000,000 steps, 100,000 tags, 100,000 runs, 4 GiB.
"""

import os

import pytest
from benchmarks.big import COMMANDS, SERVERS, SHAPES, WITHOUT_RUNS
from helpers import ROOT, run

from summaries.cli.program import command_names

pytest.importorskip("resource")
pytestmark = pytest.mark.only_on_disks(reason="what is counted are open files of a disk")

PROGRAM = """
import contextlib, os, resource, sys
from benchmarks.big import COMMANDS, SHAPES, arguments
from summaries.cli import main

os.chdir(sys.argv[1])
shape, *sizes, most_mib = sys.argv[2], *map(int, sys.argv[3:])
FILES = 64
peaks = []
for size in sizes:
    os.makedirs(f"{size}/out")
    SHAPES[shape][0](f"{size}/runs", size)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    for name, form in COMMANDS.items():
        with open("said", "w+") as said, contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main(arguments(form, f"{size}/runs", f"{size}/out"))
            said.seek(max(0, said.tell() - 2000))
            end = said.read()
        assert status in (0, 1), (name, status, end)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
print(peaks)
assert peaks[1] - peaks[0] < most_mib, peaks
"""
SIZES = {  # few of them, many of them, and how much more memory the latter may take, in MiB
    "steps": (1000, 20_000, 30),
    "tags": (50, 500, 20),
    "runs": (10, 100, 20),
    "1g": (1 << 20, 64 << 20, 20),
}


def test_every_command_is_here():
    there = {form[0] for form in COMMANDS.values()}
    assert there | SERVERS | WITHOUT_RUNS == set(command_names())
    assert set(SIZES) <= set(SHAPES)


@pytest.mark.parametrize("shape", SIZES)
def test_what_is_many_takes_a_bound_of_memory_and_of_open_files(tmp_path, shape):
    run("-c", PROGRAM, tmp_path, shape, *SIZES[shape], env=os.environ | {"PYTHONPATH": str(ROOT / "tests")})
