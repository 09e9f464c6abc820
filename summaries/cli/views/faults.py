"""What is wrong with files, told beside what a command prints, and what it makes of the exit status."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from summaries.presenting.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.errors import Fault

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

    def tell(self, *troubles: Fault | OSError | str) -> None:
        """Print them; a text says why a file cannot be read."""
        self.count(*troubles)
        for trouble in troubles:
            print(f"gradledger: {error_text(trouble)}", file=sys.stderr)

    def tell_first(self, faults: Sequence[Fault]) -> None:
        """Print the first faults of a run, because there may be thousands, and how many more there are."""
        self.tell(*faults[:_MOST])
        self.count(*faults[_MOST:])
        if len(faults) > _MOST:
            print(f"gradledger: {len(faults) - _MOST} more faults: `gradledger verify` lists them", file=sys.stderr)

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
