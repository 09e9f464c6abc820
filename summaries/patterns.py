"""Patterns of names, as a shell knows them: which tags and which runs are meant."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Patterns = str | Iterable[str] | None
    """One pattern or several; None matches every name."""

__all__ = ["matcher", "several"]


def matcher(patterns: str | Iterable[str] | None) -> Callable[[str], bool]:
    """A predicate: whether a name matches one of some patterns.

    `*` stands for any characters, slashes and line breaks too; `?` for one; `[ab]` for one of these. Case matters.
    A name that is spelled out matches itself, as `layers[0].weight` does.

    Args:
        patterns: one pattern or several; None matches every name, an empty sequence none.

    >>> wanted = matcher(["loss*", "*/norm"])
    >>> [name for name in ("loss", "loss/train", "val/loss", "gradients/norm") if wanted(name)]
    ['loss', 'loss/train', 'gradients/norm']
    """
    if patterns is None:
        return lambda _: True
    given = [patterns] if isinstance(patterns, str) else list(patterns)
    if not given:
        return lambda _: False
    compiled = re.compile("|".join(map(translate, given)))
    return lambda name: name in given or compiled.match(name) is not None


def several(patterns: str | Iterable[str] | None) -> tuple[str, ...] | None:
    """The same patterns as a tuple, which may be used again and again, and sent to another process.

    >>> several("loss*"), several(iter(["a", "b"])), several(None)
    (('loss*',), ('a', 'b'), None)
    """
    return patterns if patterns is None else (patterns,) if isinstance(patterns, str) else tuple(patterns)
