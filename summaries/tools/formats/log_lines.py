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
_NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf(?:inity)?|nan)"
_PAIR = re.compile(rf"([A-Za-z_][\w./-]*)(?: ?= ?|: ?)({_NUMBER})(?![\w.])(?!:\d)", re.IGNORECASE)
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
    for run, file in run_files(path, PATTERN):
        gatherer = Gatherer(left_out)
        with open_text(file) as lines:
            for line in lines:
                found = _pairs(line, compiled)
                name = next((name for name in _STEPS if name in found), None)
                if name is None:
                    left_out["lines without a step"] += bool(line.strip())
                    continue
                step = _number(found.pop(name) or "")
                values = {tag: _number(text) for tag, text in found.items() if text is not None}
                is_whole = isinstance(step, float) and step.is_integer()
                gatherer.add(run, int(step) if is_whole else None, _seconds(line), values)
                yield from gatherer.full()
        yield from gatherer.rest()


def _pairs(line: str, pattern: re.Pattern[str] | None) -> dict[str, str]:
    if pattern is None:
        return dict(_PAIR.findall(line))
    match = pattern.search(line)
    return match.groupdict() if match else {}


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
