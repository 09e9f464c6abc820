"""What is wrong with files, told beside what a command prints, and what it makes of the exit status."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

from summaries.errors import Fault, FaultKind
from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["UNREAD", "Troubles", "error_text", "tell_unmatched"]

UNREAD = 2
"""The exit status if a file cannot be read."""

_MOST = 5


class Troubles:
    """Faults of files, and files that cannot be read: printed on standard error, and remembered for the exit status.

    Attributes:
        status: 1 if a file is damaged, 2 if one cannot be read, else 0: also after notes and unfinished tails.
    """

    def __init__(self) -> None:
        self.status: int = 0
        self._told: Counter[tuple[str, FaultKind]] = Counter()  # by file

    def tell(self, *troubles: Fault | OSError | str) -> None:
        """Print them, of a kind of faults in a file only the first, because there may be thousands.

        Args:
            troubles: a text says why a file cannot be read.
        """
        self.count(*troubles)
        for trouble in troubles:
            told = 0
            if isinstance(trouble, Fault):
                told = self._told[trouble.path, trouble.kind]
                self._told[trouble.path, trouble.kind] += 1
            if told < _MOST:
                print(f"gradledger: {error_text(trouble)}", file=sys.stderr)
            elif told == _MOST and isinstance(trouble, Fault):
                more = f"more such faults in {printable(trouble.path)}"
                print(f"gradledger: {more}: `gradledger verify` lists them", file=sys.stderr)

    def count(self, *troubles: Fault | OSError | str) -> None:
        """Remember them only."""
        for trouble in troubles:
            status = UNREAD if isinstance(trouble, (OSError, str)) else int(trouble.kind.is_damage)
            self.status = max(self.status, status)


def tell_unmatched(tags: Iterable[str] | None, runs: Iterable[str] | None = None) -> None:
    """Print that no run matches the patterns for runs; or no tag those for tags, if there are none for runs."""
    noun, patterns = ("run", runs) if runs else ("tag", tags)
    if patterns:
        print(f"gradledger: no {noun} matches {printable(' or '.join(map(repr, patterns)))}", file=sys.stderr)


def error_text(error: object) -> str:
    """What an error or a fault says, without the number that the operating system has for it.

    >>> error_text(FileNotFoundError(2, "No such file or directory", "runs"))
    "No such file or directory: 'runs'"
    """
    text = str(error)
    return printable(text.removeprefix(f"[Errno {error.errno}] ") if isinstance(error, OSError) else text)
