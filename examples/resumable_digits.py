"""Teach softmax regression to read handwritten digits; kill it at any moment, start it again, and it goes on.

    python examples/resumable_digits.py                    about 5 s, if nobody kills it
    python examples/resumable_digits.py --kill-at 5000     it kills itself, by signal 9, at that step
    python examples/resumable_digits.py                    and goes on from its last checkpoint

A checkpoint holds everything that the next step depends on: weights, momentum, the step itself. Batches are drawn by a
generator that is seeded by the step, so that there is no place in the data to remember. What is logged before a
checkpoint is in the event file when the checkpoint is there; what was logged behind it is superseded by the run that
goes on, from `purge_step` on. So TensorBoard shows one curve, the same as that of a run that nobody killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small

import numpy as np

import optim
from summaries import SummaryWriter, read_run

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(optim.__file__).parent / "demo" / "digits.npz"
TEST_DIGITS = 360
CLASSES = 10
BATCH = 64
STEPS = 20_000
STEPS_PER_CHECKPOINT = 500


def load_digits(path: Path = DATA) -> tuple[NDArray[Any], NDArray[Any]]:
    """x: float32[n, 64], pixels from 0 (paper) to 1 (ink); y: int64[n], the digit; always in the same order."""
    with np.load(path, allow_pickle=False) as data:
        images, labels = data["images"], data["labels"].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(labels))
    return images.reshape(len(images), -1)[order].astype(np.float32) / 16, labels[order]


def loss_and_gradients(
    weights: optim.Variable, bias: optim.Variable, x: NDArray[Any], y: NDArray[Any]
) -> tuple[float, list[tuple[NDArray[Any], optim.Variable]]]:
    """Mean cross-entropy in nats, and the pairs (gradient, variable)."""
    scores = x @ weights.value + bias.value
    scores -= scores.max(axis=1, keepdims=True)
    shares = np.exp(scores)
    shares /= shares.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = float(-np.mean(np.log(shares[rows, y])))
    shares[rows, y] -= 1
    shares /= len(y)
    return loss, [(x.T @ shares, weights), (shares.sum(axis=0), bias)]


def train(logdir: Path, steps: int, kill_at: int | None) -> None:
    """Train up to `steps`, from the last checkpoint in `logdir` on, or from the beginning."""
    x, y = load_digits()
    weights = optim.Variable(np.zeros((x.shape[1], CLASSES), np.float32), name="weights")
    bias = optim.Variable(np.zeros(CLASSES, np.float32), name="bias")
    step = optim.Variable(0, trainable=False, name="global_step")
    rate = optim.linear_warmup(optim.cosine_decay(0.5, step, steps), step, steps // 20)
    optimizer = optim.MomentumOptimizer(rate, 0.9)
    saver = optim.Saver([weights, bias, step, optimizer])

    latest = optim.latest_checkpoint(logdir)
    if latest:
        saver.restore(latest)
    print(f"going on from {latest}" if latest else "from the beginning", flush=True)
    with SummaryWriter(logdir, purge_step=int(step) + 1) as writer:
        logged = optim.with_summaries(optimizer, writer)
        while int(step) < steps:
            batch = np.random.default_rng([0, int(step)]).integers(TEST_DIGITS, len(y), BATCH)
            loss, grads_and_vars = loss_and_gradients(weights, bias, x[batch], y[batch])
            logged.apply_gradients(grads_and_vars, step)
            writer.add_scalar("train/loss", loss, step)
            if int(step) % STEPS_PER_CHECKPOINT == 0 or int(step) == steps:
                scores = x[:TEST_DIGITS] @ weights.value + bias.value
                writer.add_scalar("test/accuracy", np.mean(scores.argmax(axis=1) == y[:TEST_DIGITS]), step)
                saver.save(logdir / "model", step, writer=writer)
            if int(step) == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Train, and say what the event files tell."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=STEPS, help=f"how far to train; {STEPS} where not given")
    parser.add_argument("--kill-at", type=int, help="the step at which to die by signal 9")
    parser.add_argument("--logdir", type=Path, default=Path("runs/resumable_digits"), help="of events and checkpoints")
    options = parser.parse_args()
    train(options.logdir, options.steps, options.kill_at)
    run = read_run(options.logdir)
    loss, accuracy = run.scalars["train/loss"].latest(), run.scalars["test/accuracy"].latest()
    starts = sum("tfevents" in path for path in run.files)
    told = f"{len(loss.step)} steps in {starts} start{'' if starts == 1 else 's'}"
    print(f"{told}: loss {loss.value[-1]:.3f}, accuracy {accuracy.value[-1]:.3f}")
    beside = os.path.join(os.path.dirname(sys.executable), "tensorboard")
    command = os.path.relpath(beside) if os.path.exists(beside) else "tensorboard"
    print(f"To see it: {command} --logdir {options.logdir}")


if __name__ == "__main__":
    main()
