"""First calls in an environment that has the wheel and nothing else: no compiler, no cache, no numba; and its size.

Every measurement is a process of its own; ours run where the wheel was just installed, the peers in the environment of
the benchmarks. Of the peers' histograms, the least of five calls counts, also beside our first one. What a first call
costs depends on how dear fresh memory is on the machine: columns of 2,000,000 points are 12,000 pages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.bench_reader import write
from benchmarks.figures import OURS, Figure
from benchmarks.scale import sized

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = sized(3, 1)
POINTS = sized(2_000_000, 300_000)
STEPS = sized(40, 5)

_TIMED = """
import time
{imports}
taken = []
for _ in range({times}):
    began = time.perf_counter()
    {call}
    taken.append(time.perf_counter() - began)
print({result}(taken))
"""
_IMPORTED = "from summaries import read_logdir"
# The threads of NumPy's BLAS spin for a tenth of a second after they were started, on one of our two processors.
_AT_REST = f"{_IMPORTED}; time.sleep(0.2)"
_VALUES = """import statistics, tempfile
import numpy as np
values = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
from {module} import SummaryWriter
writer = SummaryWriter(tempfile.mkdtemp(dir="{directory}"))"""
_ARRAYS = """import statistics
import numpy as np
rng = np.random.default_rng(0)
pairs = [(rng.standard_normal(400_000, np.float32), 0.01 * rng.standard_normal(400_000, np.float32)) for _ in range(50)]
"""
_OURS = """import optim
pairs = [(g, optim.Variable(w, name=f"w{i}")) for i, (w, g) in enumerate(pairs)]
optimizer = optim.clip_gradients_by_norm(optim.AdamOptimizer(), 1.0)"""
_TORCH = """import torch
torch.set_num_threads(2)
parameters = [torch.nn.Parameter(torch.from_numpy(w)) for w, _ in pairs]
for parameter, (_, g) in zip(parameters, pairs):
    parameter.grad = torch.from_numpy(g)
optimizer = torch.optim.Adam(parameters, lr=1e-3, fused=True)"""
_SERVER = """from benchmarks.bench_reader import data_server
print(float(data_server("{path}", {threads})()))"""


def figures() -> Iterator[Figure]:
    """Yield the size, then each ratio, as it is measured."""
    with tempfile.TemporaryDirectory() as directory:
        python, megabytes = installed(directory)
        yield Figure("the wheel and what it brings, without NumPy, pip and bytecode", "MB", megabytes, wanted="25 MB")
        one, ten = (os.path.join(directory, name) for name in ("one", "ten"))
        write(os.path.join(one, "x.tfevents"), POINTS)
        for number in range(10):
            os.makedirs(os.path.join(ten, f"run{number}"))
            os.link(os.path.join(one, "x.tfevents"), os.path.join(ten, f"run{number}", "x.tfevents"))
        for what, path, threads, imports, wanted in (
            (f"{POINTS:,} scalars, first call", one, 1, _AT_REST, "8 x the data server"),
            (f"{POINTS:,} scalars, first call, at once after the import", one, 1, _IMPORTED, ""),
            ("ten such runs, first call", ten, os.cpu_count() or 1, _AT_REST, "6 x the data server"),
        ):
            ours = _program(imports, f'read_logdir("{path}")')
            server = f"data server, checksums, {threads} threads"
            yield compared(what, "s", python, ours, {server: _SERVER.format(path=path, threads=threads)}, wanted)
        call, imports = 'writer.add_histogram("h", values, 0); writer.flush()', "torch.utils.tensorboard"
        theirs = _program(_VALUES.format(module=imports, directory=directory), call, 5)
        for times, how, wanted in ((1, "first call", ""), (5, "least of five calls", "10 x torch")):
            ours = _program(_VALUES.format(module="summaries", directory=directory), call, times)
            what = f"a histogram of 1,000,000 with flush, {how}"
            yield compared(what, "ms", python, ours, {"torch": theirs}, wanted)
        ours = _program(_ARRAYS + _OURS, "optimizer.apply_gradients(pairs, report=True)", STEPS, "statistics.median")
        clip = "torch.nn.utils.clip_grad_norm_(parameters, 1.0); "
        peers = {
            name: _program(_ARRAYS + _TORCH, f"{clips}optimizer.step()", STEPS, "statistics.median")
            for name, clips in (("torch, clip + fused, no report", clip), ("torch, fused alone", ""))
        }
        yield compared("clip + Adam of 20,000,000 with report", "ms", python, ours, peers, "1.15 x torch, clip + fused")


def _program(imports: str, call: str, times: int = 1, result: str = "min") -> str:
    return _TIMED.format(imports=imports, call=call, times=times, result=result)


def installed(directory: str) -> tuple[str, float]:
    """The Python of a new environment with the wheel of this checkout, and megabytes of what came with it."""
    uv, place = ROOT / ".venv-uv" / "bin" / "uv", os.path.join(directory, "bare")
    subprocess.run([uv, "build", "--quiet", "--wheel", "--out-dir", directory, ROOT], check=True)
    venv.create(place)
    python = os.path.join(place, "bin", "python")
    (wheel,) = Path(directory).glob("*.whl")
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, wheel], check=True)
    files = [path for path in Path(place, "lib").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return python, sum(path.stat().st_size for path in files if "numpy" not in str(path).lower()) / 1e6


def compared(what: str, unit: str, python: str, ours: str, peers: Mapping[str, str], wanted: str) -> Figure:
    """A figure of the medians of processes that take turns."""
    programs = {OURS: (python, ours), **{name: (sys.executable, theirs) for name, theirs in peers.items()}}
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, (executable, program) in programs.items():
            seconds[name].append(_seconds(executable, program))
    scale = 1e3 if unit == "ms" else 1.0
    typical = {name: scale * median(taken) for name, taken in seconds.items()}
    return Figure(what, unit, typical.pop(OURS), typical, wanted=wanted)


def _seconds(python: str, program: str) -> float:
    # On some machines OPENBLAS_… are set for old builds, and slow down others.
    others = {name: value for name, value in os.environ.items() if not name.startswith(("OPENBLAS_", "PYTHONPATH"))}
    environment = others | ({"PYTHONPATH": str(ROOT / "tests")} if python == sys.executable else {})
    apart = os.path.dirname(python)  # not in the checkout, whose packages would come first
    options = {"env": environment, "cwd": apart, "text": True, "stderr": subprocess.DEVNULL}
    return float(subprocess.check_output([python, "-c", program], **options))


if __name__ == "__main__":
    for figure in figures():
        print(*figure.lines(), sep="\n", flush=True)
