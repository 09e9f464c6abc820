"""Numbers, sizes, times and kinds, as commands print them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING

from summaries.reading.kinds import NOUNS
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "duration_text",
    "kind_text",
    "kinds_text",
    "number_text",
    "size_text",
    "step_text",
    "time_text",
    "value_text",
]

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_WHOLE = 1e6  # whole numbers below this are printed with all of their digits
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY


def number_text(value: float) -> str:
    """A number with five digits.

    >>> [number_text(value) for value in (0.5, 2 / 3, 123456.0, 1e-9, math.nan)]
    ['0.5', '0.66667', '123456', '1e-09', 'nan']
    """
    if math.isfinite(value) and value == int(value) and abs(value) < _WHOLE:
        return str(int(value))
    return f"{value:.5g}"


def value_text(value: object) -> str:
    """A hyperparameter, or another value: numbers with five digits.

    >>> value_text(2 / 3), value_text(True), value_text("adam")
    ('0.66667', 'True', 'adam')
    """
    return number_text(value) if isinstance(value, float) else str(value)


def step_text(step: int | None) -> str:
    """A step, or another count.

    >>> step_text(32768000), step_text(None)
    ('32,768,000', '-')
    """
    return "-" if step is None else f"{step:,}"


def size_text(size: float) -> str:
    """A number of bytes.

    >>> size_text(999), size_text(12_345_678), size_text(1)
    ('999 bytes', '12.3 MB', '1 byte')
    """
    if size < 1000:  # noqa: PLR2004
        return counted(int(size), "byte")
    unit = 0
    while size >= 999.95 and unit < len(_UNITS) - 1:  # noqa: PLR2004 - what prints as 1000.0
        size /= 1000
        unit += 1
    return f"{size:.1f} {_UNITS[unit]}"


def duration_text(secs: float) -> str:
    """A time span, by its two largest units.

    >>> [duration_text(secs) for secs in (0.25, 59, 3725, 200_000, 1e9)]
    ['0s', '59s', '1h 02m', '2d 07h', '31.7 years']
    """
    whole = int(secs)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02d}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02d}m"
    if whole < _YEAR:
        return f"{whole // _DAY}d {whole % _DAY // _HOUR:02d}h"
    return f"{secs / _YEAR:.3g} years"


def time_text(secs: float, *, millis: bool = False) -> str:
    """A point in time, in the local time zone; the number itself, if no calendar has it.

    Args:
        secs: seconds since the epoch.
        millis: whether to tell seconds and milliseconds.
    """
    try:
        local = datetime.fromtimestamp(secs)  # noqa: DTZ006 - in the zone of who reads it
    except (OverflowError, ValueError, OSError):
        return str(secs)
    return local.isoformat(" ", "milliseconds" if millis else "minutes")


def kind_text(kind: str, number: int = 1) -> str:
    """The name of a kind of summary.

    >>> kind_text("pr_curves"), kind_text("texts", 2)
    ('PR curve', 'texts')
    """
    return NOUNS[kind][number != 1]


def kinds_text(tags: Mapping[str, int]) -> str:
    """How many tags there are of each kind.

    >>> kinds_text({"scalars": 12, "texts": 1})
    '12 scalars, 1 text'
    """
    return ", ".join(f"{number} {kind_text(kind, number)}" for kind, number in tags.items())
