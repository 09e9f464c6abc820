"""Many runs and many tags, in every command that takes a directory: no file stays open, and it takes no more memory."""

import json

import pytest
from helpers import run

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.only_on_disks(reason="what is counted are open files of a disk")

COMMANDS = [
    ["ls", "runs"],
    ["verify", "runs"],
    ["audit", "runs"],
    ["compare", "runs"],
    ["diff", "runs", "runs"],
    ["show", "runs/r0"],
    ["tail", "runs/r0"],
    ["dump", "runs/r0"],
    ["export", "runs", "out.csv"],
    ["export", "runs", "dataset"],
    ["convert", "runs", "mlruns"],
    ["reduce", "runs", "-o", "reduced"],
    ["repair", "runs", "-o", "repaired"],
    ["thin", "runs", "--every", "2", "-o", "thinned"],
    ["keep", "runs", "--tags", "loss", "-o", "kept"],
    ["rename", "runs", "loss", "lost", "-o", "renamed"],
]
PROGRAM = """
import contextlib, io, json, os, resource, sys
from summaries.cli import main
from summaries.tools import convert

os.chdir(sys.argv[2])
RUNS, TAGS, FILES, MORE_MIB = 120, 300, 64, 150
with open("a.csv", "w") as table:
    print("run,tag,step,value", file=table)
    for number in range(RUNS):
        print(f"r{number},loss,1,0.5", file=table)
    for number in range(TAGS):
        print(f"r0,tag{number},1,0.5", file=table)
main(["--version"])
resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
assert convert("a.csv", "runs").runs == RUNS
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
said = io.StringIO()
with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
    statuses = [main(command) for command in json.loads(sys.argv[1])]
assert set(statuses) <= {0, 1}, (statuses, said.getvalue()[-2000:])
assert "Traceback" not in said.getvalue()
more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10
assert more < MORE_MIB, f"{more} MiB more"
"""


def test_more_runs_than_files_may_be_open(tmp_path):
    run("-c", PROGRAM, json.dumps(COMMANDS), tmp_path)
