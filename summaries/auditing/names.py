"""Checks the names in a configuration or on a command line, and suggests the one that was meant."""

from __future__ import annotations

import difflib
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ConfigError", "check_name"]

_CUTOFF = 0.4  # of difflib's similarity: less is another name


class ConfigError(ValueError):
    """A configuration has an unknown key or code, or an invalid value."""


def check_name(where: str, name: str, names: Iterable[str], what: str) -> None:
    """Raise a ConfigError if the name is not one of `names`, and suggest the closest."""
    names = list(names)
    if name in names:
        return
    near = difflib.get_close_matches(str(name), names, len(names) or 1, _CUTOFF)  # the most similar first
    # Of codes, the family matters most.
    nearest = max(near, key=lambda other: _common_beginning(str(name), other), default=None)
    hint = f"; did you mean {nearest!r}?" if nearest else f"; there are {', '.join(names) or 'none'}"
    raise ConfigError(f"{where and f'{where}: '}unknown {what} {name!r}{hint}")


def _common_beginning(one: str, other: str) -> int:
    return sum(takewhile(bool, (a == b for a, b in zip(one, other, strict=False))))
