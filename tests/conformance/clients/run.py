"""Runs clients, each in a process of its own: python -m conformance.clients.run, which reads what to run, line by line.

A line is NAME, original|ours and a directory, as JSON; the client's exit status is the answer. What all clients import
takes ten seconds. It is imported once, and each client is a fork of this process.

Clients are programs of other libraries that log through a writer. Each trains a small model on random data for a few
steps. It says whose writer it uses (LIBRARY) and which tags hold times (TIMES), whose values differ from run to run.
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import sys
from importlib.metadata import PackageNotFoundError, version

__all__ = ["PLACES", "described", "holder_of", "substitute", "version_of"]

PLACES = {
    "torch": [("torch.utils.tensorboard", "SummaryWriter"), ("torch.utils.tensorboard.writer", "SummaryWriter")],
    "tensorboardX": [
        ("tensorboardX", "SummaryWriter"),
        ("tensorboardX.writer", "SummaryWriter"),
        ("tensorboardX", "GlobalSummaryWriter"),
    ],
    "TF1": [
        ("tensorflow:compat:v1:summary", "FileWriter"),
        ("tensorflow.python.summary.writer.writer", "FileWriter"),
        ("tensorflow.python.summary.writer.writer_cache", "FileWriter"),  # of SummarySaverHook
        ("tensorflow.python.summary.summary", "FileWriter"),  # of Supervisor
    ],
}
"""Library → where programs find its writer: a module and the attributes below it, and the name there."""


def substitute(library: str) -> None:
    """Put our writer in the place of the library's, before anyone has imported that."""
    import summaries

    for place, name in PLACES[library]:
        setattr(holder_of(place), name, getattr(summaries, name, summaries.SummaryWriter))


def holder_of(place: str) -> object:
    """The module or class at a place of PLACES."""
    module, *attributes = place.split(":")
    return functools.reduce(getattr, attributes, importlib.import_module(module))


def version_of(package: str) -> str:
    """The release of an installed package, without the build's name, such as "+cpu"."""
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return version(package.removesuffix("-cpu"))  # TensorFlow's name on macOS


def described(name: str) -> tuple[str, str]:
    """What a client does, and the library that it is a client of, with its version."""
    client = importlib.import_module(f"conformance.clients.{name}")
    return client.__doc__.partition("\n")[0].rstrip("."), f"{client.PACKAGE} {version_of(client.PACKAGE)}"


def main() -> None:
    """Import what all clients do, and run each in a fork."""
    import torch

    torch.set_num_threads(1)
    for place, _ in (place for places in PLACES.values() for place in places):
        importlib.import_module(place.partition(":")[0])
    for line in sys.stdin:
        if not (process := os.fork()):
            run(*json.loads(line))
            return
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)


def run(name: str, writer: str, directory: str) -> None:
    """Seed everything, put the writer in its place, and train; what is printed goes to a file in the directory."""
    os.chdir(directory)
    said = os.open("said", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    import numpy as np
    import torch

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what the clients use
    torch.manual_seed(0)
    client = importlib.import_module(f"conformance.clients.{name}")
    if writer == "ours":
        substitute(client.LIBRARY)
    client.train(os.path.join(directory, "logs"))


if __name__ == "__main__":
    os.environ.update(HF_HUB_OFFLINE="1", TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    main()
