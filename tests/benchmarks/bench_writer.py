"""The cost of logging: scalars, summaries of many tags, and the import."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from benchmarks import wandb_offline
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, Measured, compare
from benchmarks.places import in_memory
from benchmarks.scale import sized
from summaries import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Whose writer is called like torch's, by the library that must be installed.
WRITERS = {OURS: "summaries", "torch": "torch.utils.tensorboard", "tensorboardX": "tensorboardX"}
TAGS = [f"train/metric_{i}" for i in range(20)]
OUR_SCALARS, PEER_SCALARS = sized(400_000, 100_000), sized(20_000, 5_000)
SUMMARIES, SUMMARY_TAGS = 200, 200


def figures() -> Iterator[Figure]:
    """Yield each as it is measured."""
    with in_memory() as directory:
        everyone = {library: (directory, module) for library, module in WRITERS.items()}
        in_wandb = {"wandb": wandb_offline.contender(wandb_offline.call, directory, TAGS, PEER_SCALARS)}
        yield compare(
            "a scalar, the call, encoding included",
            "µs",
            of_each(call, everyone) | in_wandb,
            job="log a scalar: what the training loop waits for",
        )
        in_wandb = {"wandb": wandb_offline.contender(wandb_offline.scalars, directory, TAGS, PEER_SCALARS)}
        yield compare(
            "a scalar, end to end with close",
            "µs",
            of_each(scalars, everyone) | in_wandb,
            job="log a scalar, until it is in the file",
        )
        file_writer = Contender(many_tags_of_tensorflow, (directory,), "tensorflow")
        yield compare(
            f"add_summary of {SUMMARY_TAGS} tags with flush, a tag",
            "µs",
            {OURS: Contender(many_tags, (directory,)), "tensorflow FileWriter": file_writer},
            per=SUMMARIES * SUMMARY_TAGS,
        )
    modules = WRITERS | {"wandb": "wandb"}
    yield compare(
        "the import, after NumPy",
        "ms",
        {library: Contender(imported, (module,), library) for library, module in modules.items()},
        seconds=sized(4, 0),
        notes=("tensorboardX imports torch, which is there",),
        job="the import",
    )


def of_each(
    prepare: Callable[..., Callable[[], object]], everyone: dict[str, tuple[str, str]], *more: object
) -> dict[str, Contender]:
    """The same with each writer."""
    return {library: Contender(prepare, (*args, *more), library) for library, args in everyone.items()}


def writer_of(directory: str, module: str) -> Any:
    """A new writer of a run of its own."""
    return importlib.import_module(module).SummaryWriter(tempfile.mkdtemp(dir=directory))


def scalar_count(module: str) -> int:
    """How many to log in a round: ours is over before a clock could tell."""
    return OUR_SCALARS if module == "summaries" else PEER_SCALARS


def log_scalars(writer: Any, count: int) -> None:
    """Log `count` scalars, as a training loop with 20 tags does."""
    add = writer.add_scalar
    for step in range(count // len(TAGS)):
        for tag in TAGS:
            add(tag, 0.5, step)


def call(directory: str, module: str) -> Callable[[], object]:
    """The call alone, for which the training loop waits."""
    writer, count = writer_of(directory, module), scalar_count(module)

    def run() -> Measured:
        began = time.perf_counter()
        log_scalars(writer, count)
        took = time.perf_counter() - began
        writer.flush()  # else a queue would be fuller from round to round
        return Measured(took / count)

    return run


def scalars(directory: str, module: str) -> Callable[[], object]:
    """A scalar, from the call to the closed file."""
    count = scalar_count(module)

    def run() -> Measured:
        began = time.perf_counter()
        writer = writer_of(directory, module)
        log_scalars(writer, count)
        writer.close()
        return Measured((time.perf_counter() - began) / count)

    run()
    return run


def message() -> Any:
    """A summary of many tags."""
    return Summary(value=[Summary.Value(tag=f"w/{i}/norm", simple_value=0.5) for i in range(SUMMARY_TAGS)])


def many_tags(directory: str) -> Callable[[], object]:
    return functools.partial(add_summaries, writer_of(directory, "summaries"), message())


def many_tags_of_tensorflow(directory: str) -> Callable[[], object]:
    """TF1's FileWriter."""
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    writer = tf.compat.v1.summary.FileWriter(tempfile.mkdtemp(dir=directory))
    return functools.partial(add_summaries, writer, tf.compat.v1.Summary.FromString(message().SerializeToString()))


def add_summaries(writer: Any, summary: Any) -> None:
    for step in range(SUMMARIES):
        writer.add_summary(summary, step)
    writer.flush()


def imported(module: str) -> Callable[[], object]:
    """The import, in an interpreter of its own, which has NumPy."""
    program = "import sys; sys.modules['tensorflow'] = None; import time, numpy; t = time.perf_counter(); "
    program += f"import {module}; print(time.perf_counter() - t)"

    def run() -> Measured:
        return Measured(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)

    return run
