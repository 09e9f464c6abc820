"""Numbers with their nouns, and lists of names, as messages say them: 1 file, 2 files; a, b and 3 others."""

from __future__ import annotations

from reprlib import Repr
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["beside", "counted", "listed", "quoted"]

_NAMED = 3
_LONGEST = Repr()
_LONGEST.maxstring = 80


def counted(number: int, noun: str) -> str:
    """A number and its noun, plural unless the number is 1.

    Args:
        number: how many.
        noun: what, in the singular; its plural must end in s.

    >>> counted(1, "file"), counted(0, "step"), counted(1250, "point")
    ('1 file', '0 steps', '1250 points')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: Sequence[str]) -> str:
    """One or more names; of more than three, the first two and the number of the others.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b and 3 others')
    """
    if len(names) > _NAMED:
        return f"{', '.join(names[: _NAMED - 1])} and {len(names) - _NAMED + 1} others"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def beside(names: Sequence[str], verb: str = "is") -> str:
    """The end of a sentence that says the same of others; "" if there are none.

    Args:
        names: of the others.
        verb: "is" or "does".

    >>> beside(["a"]), beside(["a", "b"], "does"), beside([])
    ('; so is a', '; so do a and b', '')
    """
    plural = {"is": "are", "does": "do"}
    return f"; so {verb if len(names) == 1 else plural[verb]} {listed(names)}" if names else ""


def quoted(name: object) -> str:
    r"""A name as reprs show it: in quotes, control characters escaped, without its middle if it is long.

    >>> quoted("a\nb"), len(quoted("layers/" * 1000))
    ("'a\\nb'", 80)
    """
    return _LONGEST.repr(str(name))
