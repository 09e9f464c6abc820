"""Teach a recurrent network to read handwritten digits two pixels at a time, with and without gradient clipping.

    gradledger demo            about 20 s
    gradledger demo --quick    about 3 s

Each 8x8 picture becomes a sequence of 32 steps, in reading order, and the gradient is carried back through 32 products
with one recurrent matrix (Pascanu et al. 2013, https://arxiv.org/abs/1211.5063). Both runs start from the same weights,
see the same batches and use the same rate. One scales a gradient whose global norm is over 1 down to norm 1, and learns
to read about 98 of 100. The other takes every gradient as it comes: its steps soon drive most units to where tanh is
flat, its norms grow more than tenfold, and it ends near guessing. Its course is chaotic: each processor's rounding and
each seed give another one, but all of them end so.

Each run writes its own event file: norms, clipping, what each step did to each variable, and histograms once an epoch.
What is printed at the end was read back from these files. The audit reads them too: the clipped run passes, and the
unclipped one fails, because its loss diverges (GL304).
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

import optim
from summaries import SummaryWriter, audit, read_run
from summaries.auditing.report import text
from summaries.presenting.terminal import console, escape_what_cannot_be_encoded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Parameters = dict[str, optim.Variable]
    Digits = tuple[NDArray[Any], NDArray[Any]]

DATA = Path(__file__).parent / "digits.npz"
RUNS = ("clipped", "unclipped")
TEST_DIGITS = 360
PIXELS_PER_STEP = 2
UNITS = 128
CLASSES = 10

RATE = 0.3
CLIP_NORM = 1.0
BATCH = 64
EPOCHS = 30
QUICK_EPOCHS = 4


def load_digits(path: Path = DATA) -> tuple[Digits, Digits]:
    """The digits as sequences: ((x, y) to train on, (x, y) to test on), always the same split.

    Returns:
        x: float32[32, n, 2], time step first; pixel values from 0 (paper) to 1 (ink).
        y: int64[n], the digit.
    """
    with np.load(path, allow_pickle=False) as data:
        images, labels = data["images"], data["labels"].astype(np.int64)
    sequences = images.reshape(len(images), -1, PIXELS_PER_STEP).swapaxes(0, 1).astype(np.float32) / 16
    order = np.random.default_rng(0).permutation(len(labels))
    test, train = order[:TEST_DIGITS], order[TEST_DIGITS:]
    return (sequences[:, train], labels[train]), (sequences[:, test], labels[test])


def init_parameters(rng: Any) -> Parameters:
    """By name; the recurrent matrix is a rotation, times 1.3 so that signals (and gradients) grow."""
    rotation, _ = np.linalg.qr(rng.standard_normal((UNITS, UNITS)))
    parameters = {
        "recurrent/input": rng.standard_normal((PIXELS_PER_STEP, UNITS)) / np.sqrt(PIXELS_PER_STEP),
        "recurrent/state": 1.3 * rotation,
        "recurrent/bias": np.zeros(UNITS),
        "readout/weights": rng.standard_normal((UNITS, CLASSES)) / np.sqrt(UNITS),
        "readout/bias": np.zeros(CLASSES),
    }
    return {name: optim.Variable(value, name=name, dtype=np.float32) for name, value in parameters.items()}


def class_scores(parameters: Parameters, x: NDArray[Any]) -> NDArray[Any]:
    """The network: float32[n, 10], a score per class, from x float32[steps, n, 2]."""
    from_input, from_state = parameters["recurrent/input"], parameters["recurrent/state"]
    bias = parameters["recurrent/bias"]
    state: Any = np.zeros((x.shape[1], UNITS), np.float32)
    for pixels in x:
        with optim.name_scope("recurrent/step"):
            state = np.tanh(pixels @ from_input + state @ from_state + bias)
    with optim.name_scope("readout"):
        scores: NDArray[Any] = state @ parameters["readout/weights"] + parameters["readout/bias"]
    return scores


def loss(parameters: Parameters, x: NDArray[Any], y: NDArray[Any]) -> Any:
    """Mean cross-entropy over the batch, in nats; guessing gives ln 10 = 2.30."""
    scores = class_scores(parameters, x)
    with optim.name_scope("loss"):
        scores = scores - np.max(scores, axis=1, keepdims=True)
        log_total = np.log(np.sum(np.exp(scores), axis=1))
        return np.mean(log_total - scores[np.arange(len(y)), y])


def accuracy(parameters: Parameters, x: NDArray[Any], y: NDArray[Any]) -> float:
    """Share of the digits whose highest score is the right class, 0 to 1."""
    return float(np.mean(np.argmax(class_scores(parameters, x), axis=1) == y))


def train(writer: SummaryWriter, clipped: bool, seed: int, epochs: int, show: Callable[[str], None]) -> None:
    """Gradient descent from the start that `seed` gives; everything that happens goes to `writer`."""
    (train_x, train_y), test = load_digits()
    rng = np.random.default_rng(seed)
    parameters = init_parameters(rng)
    global_step = optim.Variable(0, trainable=False, name="global_step")

    optimizer: optim.Optimizer = optim.GradientDescentOptimizer(RATE)
    if clipped:
        optimizer = optim.clip_gradients_by_norm(optimizer, CLIP_NORM)
    batches = len(train_y) // BATCH
    optimizer = optim.with_summaries(optimizer, writer, histograms_every_n_steps=batches)

    graph, cost = optim.trace_run(partial(loss, parameters, train_x[:, :BATCH], train_y[:BATCH]), values=False)
    writer.add_graph(graph)
    writer.add_run_metadata(cost, "first batch")

    for _ in range(epochs):
        for batch in np.array_split(rng.permutation(len(train_y)), batches):
            step = optimizer.minimize(partial(loss, parameters, train_x[:, batch], train_y[batch]), global_step)
        share = accuracy(parameters, *test)
        writer.add_scalar("test/accuracy", share, global_step)
        show(f"loss {step.loss:7.3f}  test accuracy {share:.3f}")


def train_both(logdir: Path, seed: int, epochs: int) -> None:
    """The same start, batches and rate, with and without clipping; a bar for each."""
    columns = (
        TextColumn("{task.description:>9}"),
        BarColumn(bar_width=30),
        TextColumn("epoch {task.completed:2.0f}/{task.total:.0f}  {task.fields[status]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:

        def advance(bar: TaskID, status: str) -> None:
            progress.update(bar, advance=1, status=status)

        for name in RUNS:
            for old in (logdir / name).glob("*tfevents*"):
                old.unlink()  # an earlier demo's, which would be drawn into the same curve
            bar = progress.add_task(name, total=epochs, status="")
            with SummaryWriter(logdir / name) as writer:
                train(writer, name == "clipped", seed, epochs, partial(advance, bar))


def what_happened(logdir: Path) -> Table:
    """A row a run: what its event files tell, of the recurrent matrix where it is about weights."""
    table = Table(title="What the event files say")
    table.add_column("run")
    for column in (
        "steps",
        "largest\nnorm",
        "steps\nclipped",
        "step over\nweights",
        "weights'\nnorm",
        "test\naccuracy",
    ):
        table.add_column(column, justify="right")
    for name in RUNS:
        scalars = read_run(logdir / name).scalars
        norms = scalars["gradients/global_norm"].value
        clipped = scalars["gradients/clipped"].value if "gradients/clipped" in scalars else None
        weights = scalars["weights/norm/recurrent/state"].value
        table.add_row(
            name,
            str(len(norms)),
            f"{np.max(norms[np.isfinite(norms)]):.1f}",
            f"{np.mean(clipped):.0%}" if clipped is not None else "none",
            f"{np.max(scalars['updates/ratio/recurrent/state'].value):.0%}",
            f"{weights[0]:.0f} → {weights[-1]:.0f}",
            f"{scalars['test/accuracy'].value[-1]:.3f}",
        )
    return table


def main() -> None:
    """Train both, read both back, say what happened."""
    parser = argparse.ArgumentParser(prog="gradledger demo", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_EPOCHS} epochs instead of {EPOCHS}")
    parser.add_argument("--seed", type=int, default=0, help="of the first weights and of the batches")
    parser.add_argument("--logdir", type=Path, default=Path("runs/sequential_digits"), help="where to write the runs")
    options = parser.parse_args()
    escape_what_cannot_be_encoded(sys.stdout)
    train_both(options.logdir, options.seed, QUICK_EPOCHS if options.quick else EPOCHS)
    printer = console(sys.stdout)
    printer.print(what_happened(options.logdir))
    printer.print("What the audit finds in them, as `gradledger audit` would print it:")
    text.show(audit(options.logdir), printer)
    for line in ways_to_see(os.fspath(options.logdir)):
        printer.print(line, markup=True, soft_wrap=True)


def ways_to_see(logdir: str) -> list[str]:
    """A line for each program that is installed and shows the runs; if none is, which extra brings one."""
    lines = []
    if find_spec("werkzeug") is not None:
        lines.append(f"To see it: [bold]{command('gradledger')} view {logdir}[/bold]")
    if find_spec("tensorboard") is not None:
        program = f"[bold]{command('tensorboard')} --logdir {logdir}[/bold]"
        lines.append(f"In TensorBoard: {program}, then open http://localhost:6006/#gradledger")
    return lines or ["To see it: pip install 'gradledger\\[view]', then gradledger view runs"]


def command(name: str) -> str:
    """What to type for a program that is installed beside this Python."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    return os.path.relpath(beside) if os.path.exists(beside) else name


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # of which the program that started this one tells
        sys.exit(130)
