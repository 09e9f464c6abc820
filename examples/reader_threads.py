"""Teach softmax regression to read handwritten digits that threads read, shuffle and batch while it trains.

    python examples/reader_threads.py    about 1 s

    four readers → a queue that shuffles → one thread that makes batches → a queue → training

Each arrow is a QueueRunner's thread. Where a reader is at the end of its data it ends; the last one closes the queue
that it filled, the batches follow when that is empty, and so training ends with the last batch, having seen every digit
as often as every other. An error in any thread ends all of them, and is raised by `coord.join`: try `--fail`.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the matrices are small

import numpy as np

import optim
from summaries import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Digit = tuple[NDArray[Any], int]  # float32[64], pixels from 0 (paper) to 1 (ink); which it is

DATA = Path(optim.__file__).parent / "demo" / "digits.npz"
TEST_DIGITS = 360
CLASSES = 10
READERS = 4
BATCH = 64
EPOCHS = 30
CAPACITY = 1000  # digits that wait to be drawn; the more, the better they are shuffled
WAITING_BATCHES = 8
LOG_EVERY_SECS = 0.05


class ShuffleQueue(optim.Queue):
    """A queue that gives any of its items, each with the same chance."""

    def _init(self, maxsize: int) -> None:
        self._items: list[Any] = []
        self._random = random.Random(0)  # noqa: S311 - a shuffle

    def _qsize(self) -> int:
        return len(self._items)

    def _put(self, item: Any) -> None:
        self._items.append(item)

    def _get(self) -> Any:
        place = self._random.randrange(len(self._items))
        self._items[place], self._items[-1] = self._items[-1], self._items[place]
        return self._items.pop()


def load_digits(path: Path = DATA) -> tuple[NDArray[Any], NDArray[Any]]:
    """x: float32[n, 64]; y: int64[n]; always in the same order."""
    with np.load(path, allow_pickle=False) as data:
        images, labels = data["images"], data["labels"].astype(np.int64)
    order = np.random.default_rng(0).permutation(len(labels))
    return images.reshape(len(images), -1)[order].astype(np.float32) / 16, labels[order]


def read(x: NDArray[Any], y: NDArray[Any], epochs: int, fail: bool) -> Iterator[Digit]:
    """What one reader reads: its part of the digits, epoch after epoch."""
    for epoch in range(epochs):
        if fail and epoch == epochs // 2:
            raise OSError("the disk of one reader is broken")
        yield from zip(x, y.tolist(), strict=True)


def put_next(digits: optim.Queue, source: Iterator[Digit]) -> None:
    """Put one digit more on the queue; StopIteration, where there is none."""
    digits.put(next(source))


def next_batch(digits: optim.Queue) -> tuple[NDArray[Any], NDArray[Any]]:
    """float32[n, 64] and int64[n], n being BATCH, or what is left; ShutDown where nothing is."""
    drawn = [digits.get()]
    try:
        while len(drawn) < BATCH:
            drawn.append(digits.get())
    except optim.ShutDown:
        pass  # the next call finds nothing
    x, y = zip(*drawn, strict=True)
    return np.stack(x), np.array(y)


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


def train(writer: SummaryWriter, epochs: int, fail: bool) -> None:
    """Read, shuffle, batch and train until the data is at its end."""
    x, y = load_digits()
    digits, batches = ShuffleQueue(CAPACITY), optim.Queue(WAITING_BATCHES)
    parts = [slice(TEST_DIGITS + i, None, READERS) for i in range(READERS)]
    sources = [read(x[part], y[part], epochs, fail and i == 0) for i, part in enumerate(parts)]
    readers = optim.QueueRunner(digits, [partial(put_next, digits, source) for source in sources])
    batcher = optim.QueueRunner(batches, [lambda: batches.put(next_batch(digits))])

    weights = optim.Variable(np.zeros((x.shape[1], CLASSES), np.float32), name="weights")
    bias = optim.Variable(np.zeros(CLASSES, np.float32), name="bias")
    step = optim.Variable(0, trainable=False, name="global_step")
    optimizer = optim.with_summaries(optim.MomentumOptimizer(0.1, 0.9), writer)

    def log_waiting() -> None:
        writer.add_scalar("input/digits_waiting", digits.qsize(), step)
        writer.add_scalar("input/batches_waiting", batches.qsize(), step)

    coord = optim.Coordinator()
    threads = [*readers.create_threads(coord, start=True), *batcher.create_threads(coord, start=True)]
    threads.append(optim.LooperThread.loop(coord, LOG_EVERY_SECS, log_waiting))
    with coord.stop_on_exception():  # the end of the data is one that means no harm
        while not coord.should_stop():
            batch = batches.get()
            loss, grads_and_vars = loss_and_gradients(weights, bias, *batch)
            optimizer.apply_gradients(grads_and_vars, step)
            writer.add_scalar("train/loss", loss, step)
            writer.add_scalar("input/digits_seen", len(batch[1]), step)
    coord.join(threads)
    accuracy = np.mean((x[:TEST_DIGITS] @ weights.value + bias.value).argmax(axis=1) == y[:TEST_DIGITS])
    writer.add_scalar("test/accuracy", accuracy, step)
    print(f"{int(step)} batches, loss {loss:.3f}, accuracy {accuracy:.3f}")


def main() -> None:
    """Train once."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--epochs", type=int, default=EPOCHS, help=f"how often to read all digits; {EPOCHS} if not given"
    )
    parser.add_argument("--fail", action="store_true", help="have one reader fail halfway")
    parser.add_argument("--logdir", type=Path, default=Path("runs/reader_threads"), help="where to write events")
    options = parser.parse_args()
    for old in options.logdir.glob("*tfevents*"):
        old.unlink()  # an earlier run's, which would be drawn into the same curve
    with SummaryWriter(options.logdir) as writer:
        train(writer, options.epochs, options.fail)
    beside = os.path.join(os.path.dirname(sys.executable), "tensorboard")
    command = os.path.relpath(beside) if os.path.exists(beside) else "tensorboard"
    print(f"To see it: {command} --logdir {options.logdir}")


if __name__ == "__main__":
    main()
