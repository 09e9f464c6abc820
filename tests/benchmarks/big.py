"""Every command on logs that are big in one way each: `python -m benchmarks.big [SHAPE …]`, in `tests`; hours.

    steps    one run of 10,000,000 steps
    tags     one run of 100,000 tags
    runs     100,000 runs
    1g 2g 4g a file with a hole of so many gibibytes, which a file system may leave

It prints how long each command took, how long it used a processor, and the most memory that one of its processes had.
`--share 0.01` makes it all a hundredth of that, `--directory` says where, and `--only audit,ls` which commands. A test
does the same, smaller, in one process: `tests/unit/summaries/cli/test_program_many.py`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.memory import measured
from summaries.wire.pb import Event
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOSS, NORM = "loss", "gradients/global_norm"
FILE = "events.out.tfevents.1700000000.host"

COMMANDS: dict[str, list[str]] = {
    "ls": ["ls", "{runs}"],
    "ls --quick": ["ls", "--quick", "{runs}"],
    "verify": ["verify", "{runs}"],
    "dump": ["dump", "{every}"],
    "dump --json": ["dump", "--json", "{every}"],
    "show": ["show", "{runs}"],
    "tail": ["tail", "{runs}"],
    "diff": ["diff", "{runs}", "{runs}"],
    "audit": ["audit", "{runs}"],
    "audit, page": ["audit", "{runs}", "-o", "{out}/audit.html"],
    "compare": ["compare", "{runs}"],
    "clip-advice": ["clip-advice", "{run}", "--tag", LOSS],
    "view": ["view", "{runs}", "-o", "{out}/page.html"],
    "export, CSV": ["export", "{runs}", "{out}/x.csv"],
    "export, wide": ["export", "{runs}", "{out}/x.parquet", "--wide", "--tags", "l*"],
    "export, dataset": ["export", "{runs}", "{out}/dataset"],
    "convert": ["convert", "{runs}", "{out}/x.jsonl"],
    "convert, back": ["convert", "{out}/x.jsonl", "{out}/converted"],
    "convert, MLflow": ["convert", "{runs}", "{out}/mlruns"],
    "repair": ["repair", "{runs}", "-o", "{out}/repaired"],
    "merge": ["merge", "{every}", "-o", "{out}/merged"],
    "thin": ["thin", "{runs}", "--every", "2", "-o", "{out}/thinned"],
    "keep": ["keep", "{runs}", "--tags", "l*", "-o", "{out}/kept"],
    "drop": ["drop", "{runs}", "--tags", LOSS, "-o", "{out}/dropped"],
    "rename": ["rename", "{runs}", LOSS, "lost", "-o", "{out}/renamed"],
    "shift": ["shift", "{runs}", "--to-zero", "-o", "{out}/shifted"],
    "reduce": ["reduce", "{runs}", "-o", "{out}/reduced"],
    "note": ["note", "{run}", "5", "a note"],
    "label": ["label", "{every}", "good"],
}
"""What is measured → the arguments: the directory of all runs, one run, every run, and where the output goes."""

WITHOUT_RUNS = {"clear-cache", "completion", "demo", "rule"}
SERVERS = {"mcp", "serve-metrics", "top", "view"}
"""They answer until they are ended, from columns within a bound of memory that their own tests hold."""


def rows(tags: list[str], steps: int) -> Iterator[bytes]:
    """The records of scalars, tag after tag at each step."""
    encoder, rng = ScalarEncoder(), np.random.default_rng(0)
    numbers = np.array([encoder.register(tag) for tag in tags])
    yield frame(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())
    for start in range(0, steps * len(tags), 20_000):
        i = np.arange(start, min(steps * len(tags), start + 20_000))
        yield encoder.encode(numbers[i % len(tags)], i // len(tags), 1.7e9 + i * 1e-3, rng.random(len(i)))[0]


def write(directory: str, tags: list[str], steps: int) -> str:
    """Write the one event file of a run."""
    os.makedirs(directory, exist_ok=True)
    with open(path := os.path.join(directory, FILE), "wb") as file:
        file.writelines(rows(tags, steps))
    return path


def of_steps(directory: str, count: int) -> None:
    """One run with so many steps of one tag."""
    write(os.path.join(directory, "r0"), [LOSS], count)


def of_tags(directory: str, count: int) -> None:
    """One run with so many tags of two points."""
    write(os.path.join(directory, "r0"), [LOSS, *(f"layer{i // 10}/l{i}" for i in range(count - 1))], 2)


def of_runs(directory: str, count: int) -> None:
    """So many runs of six points."""
    data = b"".join(rows([LOSS, NORM], 3))
    for i in range(count):
        os.makedirs(run := os.path.join(directory, f"r{i}"))
        with open(os.path.join(run, FILE), "wb") as file:
            file.write(data)


def of_hole(directory: str, count: int) -> None:
    """A run of 1,000 points before a hole of so many bytes, and 1,000 behind it."""
    path = write(os.path.join(directory, "r0"), [LOSS], 1000)
    with open(path, "r+b") as file:
        whole = file.read()
        file.seek(count, os.SEEK_CUR)
        file.write(whole)


SHAPES: dict[str, tuple[Callable[[str, int], None], int]] = {
    "steps": (of_steps, 10_000_000),
    "tags": (of_tags, 100_000),
    "runs": (of_runs, 100_000),
    **{f"{gib}g": (of_hole, (gib << 30) + 12345) for gib in (1, 2, 4)},
}


def arguments(form: list[str], runs: str, out: str) -> list[str]:
    """The arguments of a command on all runs below a directory."""
    every = [os.path.join(runs, name) for name in sorted(os.listdir(runs))]
    places = {"{runs}": runs, "{run}": every[0]}
    found: list[str] = []
    for word in form:
        found += every if word == "{every}" else [places.get(word, word.replace("{out}", out))]
    return found


def main() -> int:
    """Print a line for each command on each shape; the exit status is 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.big")
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"any of {', '.join(SHAPES)} (default: all)")
    parser.add_argument("--share", type=float, default=1.0, help="of the full size")
    parser.add_argument("--directory", help="where to write some ten gigabytes")
    parser.add_argument("--only", help="commands, separated by commas (default: all)")
    parser.add_argument("--secs", type=float, default=900.0, help="how long a command may take")
    chosen = parser.parse_args()
    program = [sys.executable, "-m", "gradledger"]
    failed = 0
    print(f"{'':8}{'--version':18}{measured([*program, '--version']).mib:8.0f} MiB")
    for shape in chosen.shapes or SHAPES:
        make, count = SHAPES[shape]
        with tempfile.TemporaryDirectory(dir=chosen.directory) as directory:
            runs, out = os.path.join(directory, "runs"), os.path.join(directory, "out")
            os.mkdir(out)
            make(runs, int(count * chosen.share))
            for name, form in COMMANDS.items():
                if chosen.only and form[0] not in chosen.only.split(","):
                    continue
                done = measured([*program, *arguments(form, runs, out)], chosen.secs)
                failed += done.status not in {0, 1}
                note = "" if done.status in {0, 1} else f"   exit status {done.status}: {done.said[-200:]}"
                print(
                    f"{shape:8}{name:18}{done.mib:8.0f} MiB {done.secs:9.1f} s {done.cpu_secs:9.1f} s CPU{note}",
                    flush=True,
                )
                for made in os.listdir(out):
                    if made != "x.jsonl":  # which is converted back
                        shutil.rmtree(os.path.join(out, made), ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
