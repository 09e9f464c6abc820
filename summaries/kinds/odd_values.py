"""Warns of values that are logged otherwise than they were given, once per tag."""

from __future__ import annotations

from summaries.values import warn

__all__ = ["warn_odd"]

_warned: set[tuple[str, str, str]] = set()


def warn_odd(kind: str, tag: str, problem: str, written: str, example: object = "") -> None:
    """Warn of an odd value, if this is the first of its tag; the warning names the first line outside of this package.

    Python's own filters show a warning once a line only until somebody else changes a filter.

    Args:
        kind: the kind of summary.
        tag: its tag.
        problem: what is odd.
        written: what is logged instead.
        example: a value that is odd; it may differ from call to call.
    """
    if (kind, tag, problem) in _warned:
        return
    _warned.add((kind, tag, problem))
    such = "" if example == "" else f", such as {example}"
    message = f"{kind} {tag!r} {problem}{such}: {written}; warned once per tag"
    warn(message)
