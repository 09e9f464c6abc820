"""Warm-up: compile everything ahead of time, so that no program waits for it."""

from __future__ import annotations

from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from summaries.native.library import has_compiler
from summaries.wire.compiled.state import INDEXER, SCANNER

if TYPE_CHECKING:
    from summaries.native.library import Library

__all__ = ["LIBRARIES", "Warmed", "demand_compiler", "warm_up", "warmed"]

LIBRARIES = {"reading": (SCANNER, INDEXER), "histograms": ()}
"""What is compiled, by what it is for."""


class Warmed(NamedTuple):
    """Compiled code that is ready.

    Attributes:
        title: what it is.
        path: the file that holds it.
        size: of the file, in bytes.
        seconds: how long compiling it took; 0.0 if it was there.
    """

    title: str
    path: str
    size: int
    seconds: float


def warm_up() -> list[Warmed]:
    """Compile what reading and histograms use, into `GRADLEDGER_CACHE_DIR` or the user's cache directory.

    Without it, that happens when it first pays off: reading then waits, and NumPy counts histograms until it is done.
    `optim.compile_kernels` does the same for optimizers; `gradledger warm-up` calls both.

    Returns:
        What is ready, whether it was compiled now or was there.

    Raises:
        ImportError: numba is missing.
        OSError: the directory cannot be written to.

    >>> for warmed in warm_up():  # doctest: +SKIP
    ...     print(warmed.title, warmed.seconds)
    the scanner of event files 2.1
    the indexer of event files 0.8
    the counter of histograms 0.4
    """
    return [warmed(library) for library in chain.from_iterable(LIBRARIES.values())]


def warmed(library: Library) -> Warmed:
    """Compile one library, unless it is there."""
    demand_compiler()
    start = perf_counter()
    path, size, is_new = library.keep()
    return Warmed(library.title, path, size, perf_counter() - start if is_new else 0.0)


def demand_compiler() -> None:
    """Raise an ImportError that says how to install numba, if it is missing."""
    if not has_compiler():
        raise ImportError("compiling needs numba: pip install 'gradledger[fast]'")
