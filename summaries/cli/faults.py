"""Faults of files, told beside what a command prints: a few of each run, because there may be thousands; and errors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from summaries.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.errors import Fault

__all__ = ["error_text", "tell_faults"]

_MOST = 5


def tell_faults(faults: Sequence[Fault]) -> None:
    """Print the first faults of a run to standard error, and how many more there are."""
    for fault in faults[:_MOST]:
        print(f"gradledger: {printable(str(fault))}", file=sys.stderr)
    if len(faults) > _MOST:
        print(f"gradledger: {len(faults) - _MOST} more faults: `gradledger verify` lists them", file=sys.stderr)


def error_text(error: Exception) -> str:
    """What an error says, without the number that the operating system has for it.

    >>> error_text(FileNotFoundError(2, "No such file or directory", "runs"))
    "No such file or directory: 'runs'"
    """
    told = str(error)
    return printable(told.removeprefix(f"[Errno {error.errno}] ") if isinstance(error, OSError) else told)
