"""Patterns of names, as a shell knows them: which tags and which runs are meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import TYPE_CHECKING

from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    Patterns = str | Iterable[str] | None
    """One pattern or several; None matches every name."""

__all__ = ["demand_match", "matcher", "several"]


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
    wanted = several(patterns)
    if wanted is None:
        return lambda _: True
    if not wanted:
        return lambda _: False
    compiled = re.compile("|".join(map(translate, wanted)))
    return lambda name: name in wanted or compiled.match(name) is not None


def demand_match(noun: str, patterns: str | Iterable[str] | None, names: Iterable[str]) -> None:
    """Raise an error if a pattern matches none of some names: it is misspelled, and "nothing found" would mislead.

    Args:
        noun: what the names are of: "tag" or "run".
        patterns: one pattern or several; None demands nothing.
        names: the names there are.

    Raises:
        LookupError: a pattern matches none of the names.

    >>> demand_match("tag", ["loss*", "acuracy"], ["loss", "accuracy"])
    Traceback (most recent call last):
        ...
    LookupError: no tag matches 'acuracy'; there are loss and accuracy
    """
    existing = list(dict.fromkeys(names))
    for pattern in several(patterns) or ():
        if not any(map(matcher(pattern), existing)):
            raise LookupError(f"no {noun} matches {pattern!r}; {_there(existing)}")


def _there(existing: list[str]) -> str:
    if existing == ["."]:
        return "there is only '.', the place itself"
    return f"there {'is' if len(existing) == 1 else 'are'} {listed(existing)}" if existing else "there is none"


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
    each = tuple(patterns) if isinstance(patterns, Iterable) and not isinstance(patterns, bytes) else (patterns,)
    for pattern in each:
        if not isinstance(pattern, str):
            raise TypeError(f"names are chosen by a string such as 'loss*', or by several, got {pattern!r}")
    return each
