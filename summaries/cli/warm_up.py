"""`gradledger warm-up`: compile what makes reading, histograms and optimizers fast, ahead of time."""

from __future__ import annotations

import os
from contextlib import contextmanager
from importlib import import_module
from time import perf_counter
from typing import TYPE_CHECKING

import click

from summaries.cli.options import examples
from summaries.native.announcing import announced_to
from summaries.native.place import code_directory, sizes
from summaries.terminal import progress_bar
from summaries.tools.warming import LIBRARIES, demand_compiler, warmed
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]

_ALL = (*LIBRARIES, "optimizers")
_KERNELS = "the kernels of optimizers"


@click.command(
    help="Compile ahead of time what makes WHAT fast: reading, histograms, optimizers; by default all three. It is "
    "kept in GRADLEDGER_CACHE_DIR, or in the user's cache directory. Needs numba.",
    epilog=examples(
        "gradledger warm-up", "gradledger warm-up reading histograms", status="0 if all is compiled, 2 if it failed."
    ),
)
@click.argument("what", nargs=-1, type=click.Choice(_ALL))
def command(what: tuple[str, ...]) -> int:
    """Compile it, and say what is there; returns 0."""
    for name in what or _ALL:
        if name in LIBRARIES:
            for library in LIBRARIES[name]:
                with _progress():
                    title, _, size, seconds = warmed(library)
                _say(title, seconds, f"{size:,} bytes")
        else:
            _compile_kernels()
    print(f"in {code_directory()}: {sum(sizes().values()):,} bytes")
    return 0


def _compile_kernels() -> None:
    """Compile the optimizers' kernels. By name: this package never imports optim; both come in one distribution."""
    if os.environ.get("GRADLEDGER_KERNELS") == "plain":
        print(f"{_KERNELS:<28}switched off by GRADLEDGER_KERNELS=plain; unset it to switch them on")
        return
    demand_compiler()
    before = sizes()
    start = perf_counter()
    with _progress():
        count = import_module("optim").compile_kernels()
    if not count:
        raise ImportError(f"{_KERNELS} cannot be compiled here: the log says why")
    seconds = perf_counter() - start
    new = any(path.endswith(".py") for path in sizes().keys() - before)
    _say(_KERNELS, seconds if new else 0.0, counted(count, "kernel"))


@contextmanager
def _progress() -> Iterator[None]:
    """Show what is being compiled in one line on a terminal, instead of a message in the log for each piece."""
    with progress_bar(None) as show, announced_to(lambda title: show(f"compiling {title}", None)):
        yield


def _say(title: str, seconds: float, size: str) -> None:
    done = f"compiled in {seconds:.1f} s" if seconds else "already compiled"
    print(f"{title:<28}{done:<20}{size}")
