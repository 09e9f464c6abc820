"""Numbers with their nouns, as messages say them: 1 file, 2 files."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str) -> str:
    """A number and its noun, plural unless the number is 1.

    Args:
        number: how many.
        noun: what, in the singular; its plural must end in s.

    >>> counted(1, "file"), counted(0, "step"), counted(1250, "point")
    ('1 file', '0 steps', '1250 points')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
