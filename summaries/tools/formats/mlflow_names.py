"""Names that MLflow takes, each a path of its own: what it does not take is replaced. Pure (no I/O)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Names"]

_UNFIT = re.compile(r"[^\w\-. :/]", re.ASCII)
_MOST_CHARACTERS = 250


class Names:
    """Turns tags into names of MLflow's, and remembers which are others.

    A name consists of letters, digits, spaces and `_-.:/`; its parts between slashes are not empty, "." or "..". Names
    are paths of files, so that none is the directory of another.

    Attributes:
        changed: tag → name, of those that differ.

    >>> names = Names()
    >>> names.of(["loss", "loss/train", "größe", "../x"])
    {'loss': 'loss_', 'loss/train': 'loss/train', 'größe': 'gr__e', '../x': '__/x'}
    >>> list(names.changed)
    ['loss', 'größe', '../x']
    """

    def __init__(self) -> None:
        self.changed: dict[str, str] = {}

    def of(self, tags: Iterable[str]) -> dict[str, str]:
        """Tag → name, for the tags of one run."""
        wanted = {tag: _fit(tag) for tag in tags}
        folders = {
            "/".join(parts[:end]) for parts in (n.split("/") for n in wanted.values()) for end in range(1, len(parts))
        }
        taken = {name.casefold() for name in folders}
        names = {}
        for tag, name in sorted(wanted.items(), key=lambda pair: pair[0] != pair[1]):  # those that fit keep their names
            while name.casefold() in taken:
                name += "_"  # noqa: PLW2901 - until it is one of its own
            taken.add(name.casefold())
            names[tag] = name
            if name != tag:
                self.changed[tag] = name
        return {tag: names[tag] for tag in wanted}


def _fit(tag: str) -> str:
    parts = _UNFIT.sub("_", tag)[:_MOST_CHARACTERS].split("/")
    return "/".join("_" * max(len(part), 1) if set(part) <= {"."} else part for part in parts)
