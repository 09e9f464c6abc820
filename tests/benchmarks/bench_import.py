"""Start-up: the processor time that imports and short commands take in new processes, beside `import numpy`.

Imports are measured on top of NumPy, which everybody who logs has loaded: with it and ours, less it alone. The
processes take turns, and each figure is a median.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures import Figure
from benchmarks.scale import sized
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = sized(21, 5)
BARE, NUMPY = "pass", "import numpy"
IMPORTS = {
    "from summaries import SummaryWriter": "0.5 x numpy",
    "import tempfile; from summaries import SummaryWriter; SummaryWriter(tempfile.mkdtemp()).close()": "",
    "from summaries import read_run": "",
    "from optim import AdamOptimizer": "",
    "from optim import GradientMonitor": "",
}
PEERS = {"torch.utils.tensorboard": "torch", "tensorboardX": "tensorboardX"}
COMMANDS = {"--help": "0.1 s", "rule GL401": "0.1 s", "a completion on TAB": "0.1 s", "an audit of two runs": "0.3 s"}


def figures() -> Iterator[Figure]:
    """Yield one for each import and each command."""
    peers = {f"import {name}": f"import numpy, {name}" for name, library in PEERS.items() if find_spec(library)}
    left_out = {f"import {name}": "it is not installed" for name, library in PEERS.items() if not find_spec(library)}
    programs = {text: f"import numpy; {text}" for text in IMPORTS} | peers | {BARE: BARE, NUMPY: NUMPY}
    with tempfile.TemporaryDirectory() as logdir:
        write(logdir)
        commands = {name: arguments(name, logdir) for name in COMMANDS}
        taken: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for name, program in programs.items():
                taken.setdefault(name, []).append(seconds(["-c", program]))
            for name, found in commands.items():
                taken.setdefault(name, []).append(seconds(["-m", "summaries", *found]))
    typical = {name: 1e3 * median(each) for name, each in taken.items()}
    numpy = typical[NUMPY] - typical[BARE]
    beside = {NUMPY: numpy, **{name: typical[name] - typical[NUMPY] for name in peers}}
    for text, wanted in IMPORTS.items():
        yield Figure(
            f"{text}, on top of NumPy", "ms", typical[text] - typical[NUMPY], beside, None, wanted, (), left_out
        )
    for name, wanted in COMMANDS.items():
        yield Figure(f"{name}, with Python's own start", "ms", typical[name], {NUMPY: typical[NUMPY]}, None, wanted)


def write(logdir: str) -> None:
    """Write two small runs."""
    for run in ("a", "b"):
        with SummaryWriter(os.path.join(logdir, run)) as writer:
            for step, loss in enumerate(np.geomspace(2.0, 0.1, 1000).tolist()):
                writer.add_scalar("train/loss", loss, step)


def arguments(name: str, logdir: str) -> list[str]:
    """A command's; of a completion, none: what is completed is in the environment of all."""
    return {"a completion on TAB": [], "an audit of two runs": ["audit", logdir]}.get(name, name.split())


def seconds(program: list[str]) -> float:
    """The processor time of a new process."""
    completing = {"_GRADLEDGER_COMPLETE": "bash_complete", "GRADLEDGER_LINE": "gradledger audit --f"}
    environment = os.environ | (completing if program == ["-m", "summaries"] else {})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *program], check=False, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for figure in figures():
        print("\n".join(figure.lines()), flush=True)
