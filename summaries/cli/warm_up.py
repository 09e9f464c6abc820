"""`gradledger warm-up`: compile what makes reading, histograms and optimizers fast, ahead of time."""

from __future__ import annotations

from importlib import import_module
from time import perf_counter

import click

from summaries.cli.options import examples
from summaries.native.place import code_directory, sizes
from summaries.tools.warming import LIBRARIES, warmed
from summaries.words import counted

__all__ = ["command"]

_ALL = (*LIBRARIES, "optimizers")


@click.command(
    help="Compile what makes WHAT fast - reading, histograms, optimizers; by default all - ahead of time, into "
    "GRADLEDGER_CACHE_DIR or the user's cache directory. Needs numba.",
    epilog=examples(
        "gradledger warm-up", "gradledger warm-up reading histograms", status="0 if it is there, 2 if it failed."
    ),
)
@click.argument("what", nargs=-1, type=click.Choice(_ALL))
def command(what: tuple[str, ...]) -> int:
    """Compile it, and say what is there; returns 0."""
    for name in what or _ALL:
        if name in LIBRARIES:
            for library in LIBRARIES[name]:
                title, _, size, seconds = warmed(library)
                _say(title, seconds, f"{size:,} bytes")
        else:
            _compile_kernels()
    print(f"in {code_directory()}: {sum(sizes().values()):,} bytes")
    return 0


def _compile_kernels() -> None:
    """Compile the optimizers' kernels. By name: this package never imports optim; both come in one distribution."""
    before = sizes()
    start = perf_counter()
    count = import_module("optim").compile_kernels()
    seconds = perf_counter() - start
    new = any(path.endswith(".py") for path in sizes().keys() - before)
    _say("the kernels of optimizers", seconds if new else 0.0, counted(count, "kernel"))


def _say(title: str, seconds: float, size: str) -> None:
    done = f"compiled in {seconds:.1f} s" if seconds else "was there"
    print(f"{title:<28}{done:<20}{size}")
