"""What a loss of power leaves of what other writers had confirmed: `PYTHONPATH=tests python -m crash.peers`.

Needs strace, torch, tensorboardX and wandb: `make bench` makes an environment with them. Each confirms as often as it
can: event files by `flush()`, W&B by `finish()`. Ours is the same program as torch's with another import.
"""

import os
import sys
import tempfile
from pathlib import Path

from crash.recorded import record
from crash.states import MODELS, states
from crash.test_crash import Check
from crash.workloads import BEGIN, Workload, points_of

from summaries.tools import convert

EVENT_FILES = """
from LIBRARY import SummaryWriter
writer = SummaryWriter(os.path.join(root, "new", "run"), flush_secs=1000, **dict(OPTIONS))
for step in range(100):
    writer.add_scalar("loss", step, step)
    if step % 5 == 4:
        writer.flush()
        confirm()
writer.close()
confirm()
"""
WANDB = """
import wandb
settings = wandb.Settings(x_disable_meta=True, x_disable_stats=True, console="off", disable_git=True)
for number in range(2):
    run = wandb.init(project="crash", mode="offline", dir=root, settings=settings, name=f"run{number}")
    for step in range(10):
        run.log({"loss": step}, step=step)
    run.finish()
    confirm()
"""


def check_event_files(root, _source):
    steps = points_of(os.path.join(root, "new", "run"))
    whole = next((i for i, step in enumerate(steps) if step != i), len(steps))
    return 21 if whole == 100 else whole // 5


def check_wandb(root, _source):
    """The runs that are whole, each by itself: another one's damage is not theirs."""
    return sum(is_whole(path) for path in Path(root).glob("wandb/offline-run-*"))


def is_whole(path):
    """Whether all that a run of W&B logged is there."""
    with tempfile.TemporaryDirectory() as directory:
        target = os.path.join(directory, "runs")
        try:
            convert(path, target)
        except (ValueError, OSError):
            return False
        return any(points_of(os.path.join(target, name)) == list(range(10)) for name in os.listdir(target))


def event_files(library, **options):
    script = EVENT_FILES.replace("LIBRARY", library).replace("OPTIONS", repr(options))
    return Workload(BEGIN + script, check_event_files)


PEERS = {
    "`summaries`, `fsync=True`": event_files("summaries", fsync=True),
    "`summaries`": event_files("summaries"),
    "`torch.utils.tensorboard`": event_files("torch.utils.tensorboard"),
    "`tensorboardX`": event_files("tensorboardX"),
    "W&B, offline": Workload(BEGIN + WANDB, check_wandb),
}


def counted(model, calls, root, check):
    """(states, those that lack what was confirmed)."""
    number, broken, confirmed = 0, 0, 0
    for confirmed, tree in states(calls, root, model):
        found = check(tree)
        number += 1
        broken += isinstance(found, Exception) or found < confirmed
    assert check.workload.check(root, "") == confirmed, "what is confirmed is not there without a loss of power, either"
    return number, broken


def main():
    """Print the table, a row for each writer."""
    os.fsync = lambda _fd: None  # of what checks: the power stays
    print("| writer |", " | ".join(MODELS), "|")
    print("|---|" + "--:|" * len(MODELS))
    for name, workload in PEERS.items():
        with tempfile.TemporaryDirectory() as directory:
            place = Path(directory)
            for each in ("root", "source"):
                (place / each).mkdir()
            (place / "script.py").write_text(workload.script, encoding="utf-8")
            command = [sys.executable, str(place / "script.py"), str(place / "root"), str(place / "source")]
            calls = record(command, place / "trace", env={**os.environ, "WANDB_SILENT": "true"})
            check = Check(workload, str(place / "source"), str(place / "found"))
            figures = [counted(model, calls, str(place / "root"), check) for model in MODELS]
        print(f"| {name} |", " | ".join(f"{broken:,} of {number:,}" for number, broken in figures), "|", flush=True)


if __name__ == "__main__":
    main()
