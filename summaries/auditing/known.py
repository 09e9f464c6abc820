"""Names that a configuration or a command line gives: whether they are known, and which was meant if not."""

from __future__ import annotations

import difflib
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ConfigError", "known"]


class ConfigError(ValueError):
    """A configuration has an unknown key or code, or an invalid value."""


def known(where: str, name: str, names: Iterable[str], what: str) -> None:
    """Raise a ConfigError if the name is not one of `names`, and suggest the closest."""
    names = list(names)
    if name in names:
        return
    place = f"{where}: " if where else ""
    near = difflib.get_close_matches(
        str(name), names, len(names) or 1, 0.4
    )  # best first; of codes, the family matters most
    nearest = max(near, key=lambda other: _common_beginning(str(name), other), default=None)
    hint = f"; did you mean {nearest!r}?" if nearest else f"; there are {', '.join(names) or 'none'}"
    raise ConfigError(f"{place}unknown {what} {name!r}{hint}")


def _common_beginning(one: str, other: str) -> int:
    return sum(takewhile(bool, (a == b for a, b in zip(one, other, strict=False))))
