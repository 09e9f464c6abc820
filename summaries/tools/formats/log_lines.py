r"""Plain logs: text in which numbers stand as `name=number` or `name: number`, or as a pattern says.

    2026-11-24 10:00:00,123 INFO step=100 loss=0.25 lr: 1e-3
    Epoch 3/10, train loss 0.25                                  Epoch (?P<step>\d+).*loss (?P<loss>\S+)

A line with a step is a row; a time at its beginning, in ISO 8601, is that of its points.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from summaries.storage.plain import open_text
from summaries.tools.formats.files import run_files
from summaries.tools.formats.gathering import Gatherer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["PATTERN", "log_pattern", "read_log"]

PATTERN = "*.log"
_STEPS = ("step", "global_step", "iteration", "iter", "epoch")  # the first that a line has
# Nothing in these is tried twice (++, *+, ?+), and a name is taken also without a number after it: a line of megabytes,
# such as a picture in base64, takes no longer for its length.
_NUMBER = r"[-+]?(?:(?:\d[\d_]*+(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+|inf(?:inity)?|nan)"
_GROUPS = r"(?:,\d[\d.]*+)*+"  # after commas, which separate thousands or are decimal: such a number is not guessed
_END = r"(?!\w|\.\d|:\d)"  # but the full stop of a sentence may follow
_PAIR = re.compile(rf"(?<!\w)([^\W\d][\w./-]*+)(?:(?: *+= *+|: *+)({_NUMBER}{_GROUPS}){_END})?", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[\d;]*m")  # whose m would be taken for the beginning of a name
_TIME = re.compile(r"\W?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[-+]\d\d:?\d\d)?)")


def log_pattern(pattern: str) -> re.Pattern[str]:
    r"""A pattern whose named groups are tags.

    Raises:
        ValueError: it is no regular expression, or has no group `step`, or no other.

    >>> log_pattern(r"(?P<step>\d+): (?P<loss>\S+)").groups
    2
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"a pattern must be a regular expression, got {pattern!r}: {error}") from None
    if "step" not in compiled.groupindex or len(compiled.groupindex) == 1:
        raise ValueError(
            r"a pattern must have a group for the step and others for tags, as in '(?P<step>\d+) (?P<loss>\S+)', "
            f"got {pattern!r}"
        )
    return compiled


def read_log(path: str, left_out: LeftOut, pattern: str | None = None) -> Iterator[Item]:
    """Read a plain log, or each below a directory. Times without a zone are local ones, as Python's logging writes.

    Args:
        path: the file or directory.
        left_out: counts what is left out: lines without a step, and what is no number.
        pattern: a regular expression whose named groups are tags, one of them `step`; None takes `name=number` and
            `name: number`, where the step is called step, global_step, iteration, iter or epoch.

    Raises:
        ValueError: see `log_pattern`.
        OSError: a file cannot be read.
    """
    compiled = None if pattern is None else log_pattern(pattern)
    for run, file in run_files(path, PATTERN, left_out):
        gatherer = Gatherer(left_out)
        with open_text(file) as lines:
            for line in lines:
                found = _pairs(_COLOUR.sub("", line), compiled, left_out)
                name = next((name for name in _STEPS if name in found), None)
                if name is None:
                    left_out["lines without a step"] += bool(line.strip())
                    continue
                step = _step(found.pop(name) or "")
                values = {tag: _number(text) for tag, text in found.items() if text is not None}
                gatherer.add(run, step, _seconds(line), values)
                yield from gatherer.full()
        yield from gatherer.rest()


def _pairs(line: str, pattern: re.Pattern[str] | None, left_out: LeftOut) -> dict[str, str]:
    if pattern is not None:
        match = pattern.search(line)
        return match.groupdict() if match else {}
    found: dict[str, str] = {}
    for name, text in _PAIR.findall(line):
        if name in found and text:  # as in "train loss: 0.5, val loss: 0.25"; a pattern tells them apart
            left_out[f"values of {name!r}, which another in their line replaces"] += 1
        if text:
            found[name] = text
    return found


def _step(text: str) -> int | None:
    """A step; of an integer all digits, which a float has not beyond 2**53."""
    try:
        return int(text)
    except ValueError:
        number = _number(text)
    return int(number) if isinstance(number, float) and number.is_integer() else None


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _seconds(line: str) -> float:
    match = _TIME.match(line)
    try:
        return datetime.fromisoformat(match[1].replace(",", ".")).timestamp() if match else np.nan
    except (ValueError, OverflowError, OSError):
        return np.nan
