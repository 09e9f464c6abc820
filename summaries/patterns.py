"""Patterns of names, as a shell knows them: which tags and which runs are meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Patterns = str | Iterable[str] | None
    """One pattern or several; None matches every name."""

__all__ = ["matcher", "several"]


def matcher(patterns: str | Iterable[str] | None) -> Callable[[str], bool]:
    """A predicate: whether a name matches one of some patterns.

    `*` stands for any characters, slashes and line breaks too; `?` for one; `[ab]` for one of these. Case matters.
    A name that is spelled out matches itself, as `layers[0].weight` does.

    Args:
        patterns: one pattern or several; None matches every name, an empty sequence none.

    Raises:
        TypeError: one is not a string.

    >>> wanted = matcher(["loss*", "*/norm"])
    >>> [name for name in ("loss", "loss/train", "val/loss", "gradients/norm") if wanted(name)]
    ['loss', 'loss/train', 'gradients/norm']
    """
    given = several(patterns)
    if given is None:
        return lambda _: True
    if not given:
        return lambda _: False
    compiled = re.compile("|".join(map(translate, given)))
    return lambda name: name in given or compiled.match(name) is not None


def several(patterns: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """The same patterns as a tuple, which may be used again and again, and sent to another process.

    >>> several("loss*"), several(iter(["a", "b"])), several(None)
    (('loss*',), ('a', 'b'), None)

    Raises:
        TypeError: one is not a string.
    """
    if patterns is None:
        return None
    if isinstance(patterns, str):
        return (patterns,)
    given = tuple(patterns) if isinstance(patterns, Iterable) and not isinstance(patterns, bytes) else (patterns,)
    for one in given:
        if not isinstance(one, str):
            raise TypeError(f"names are chosen by a string such as 'loss*', or by several, got {one!r}")
    return given
