"""What runs logged beside scalars, for a page in a file: as much as there is room for, and what was left out.

Of each tag of each run, the last value comes first, then the first one, then values evenly between, until there is no
room. Of histograms, so many as a heat map shows come at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.report.packed import Arrays, body, plain, to_json
from summaries.errors import FormatError
from summaries.integrations.tensorboard import media
from summaries.reading.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from summaries.integrations.tensorboard.library import Library
    from summaries.reading.series import Items

__all__ = ["Gathered", "gathered"]

_SHOWN = ("images", "histograms", "texts", "audio", "pr_curves")
_ROUNDS = (1, 2, 4, 10)  # values of a tag: those of each round are among those of the next
_STRETCHES = 100  # steps of histograms


@dataclass(frozen=True, slots=True)
class Gathered:
    """The media of a page.

    Attributes:
        bodies: run → its media, as `page/saved_media.js` reads them.
        shelf: what `media.shelf` says of them.
        kept: how many values there are.
        all: how many there were.
    """

    bodies: dict[str, bytes]
    shelf: list[dict[str, Any]]
    kept: int
    all: int


@dataclass(slots=True)
class _Shelved:
    """A tag of a run: its values, and those that are kept, by their index; histograms are kept together."""

    kind: str
    items: Items
    values: dict[int, tuple[dict[str, Any], list[media.Content]]] = field(default_factory=dict)
    stacked: media.Stacked | None = None

    @property
    def kept(self) -> int:
        return len(self.values) if self.stacked is None else len(self.stacked.step)


def gathered(library: Library, runs: Sequence[str], tags: Collection[str] | None, most_bytes: int) -> Gathered:
    """The media of these runs, of some tags or of all, of at most so many bytes."""
    by_run: dict[str, list[_Shelved]] = {}
    for name in runs:
        book, run = library.book(name), library.columns(name).run
        wanted = [(kind, tag) for kind in _SHOWN for tag in book.media.get(kind, ()) if tags is None or tag in tags]
        if wanted:
            by_run[name] = [_Shelved(kind, media.items_of(run, kind, tag)) for kind, tag in wanted]
    everything = [one for shelved in by_run.values() for one in shelved]
    left = most_bytes
    for most in _ROUNDS:
        for one in everything:
            if one.kind != "histograms":
                left -= _fill(one, most, left)
            elif most == _ROUNDS[0]:
                left -= _stack(one, left)
    return Gathered(
        {name: _packed(shelved) for name, shelved in by_run.items()},
        _shelf(by_run),
        sum(one.kept for one in everything),
        sum(len(one.items) for one in everything),
    )


def _stack(one: _Shelved, room: int) -> int:
    """Keep histograms as a heat map shows them, if there is room; how many bytes they take."""
    if not len(one.items) or room <= 0:
        return 0
    stacked = media.stacked(one.items, _STRETCHES)
    size = 4 * stacked.cells.size
    if size > room:
        return 0
    one.stacked = stacked
    return size


def _fill(one: _Shelved, most: int, room: int) -> int:
    """Keep some values, if there is room; how many bytes they take."""
    taken = 0
    evenly = np.linspace(len(one.items) - 1, 0, most if len(one.items) else 0).round().tolist()
    for index in map(int, evenly):
        if index in one.values or room <= taken:
            continue
        value, contents = _value(one, index)
        size = len(to_json(value)) + sum(len(content.data) for content in contents)
        if taken + size <= room:
            one.values[index] = value, contents
            taken += size
    return taken


def _value(one: _Shelved, index: int) -> tuple[dict[str, Any], list[media.Content]]:
    try:
        value = media.told(one.kind, one.items, index)
        contents = [
            media.content(one.items, index, at) if kind else media.Content("", b"")
            for at, kind in enumerate(value.get("types", ()))
        ]
    except (FormatError, OSError) as error:
        return {"step": int(one.items.step[index]), "about": str(error)}, []
    return value, contents


def _shelf(by_run: dict[str, list[_Shelved]]) -> list[dict[str, Any]]:
    found: dict[str, dict[str, int]] = {}
    for shelved in by_run.values():
        for one in shelved:
            tags = found.setdefault(one.kind, {})
            tags[one.items.tag] = tags.get(one.items.tag, 0) + 1
    return [
        {"kind": kind, "noun": KINDS[kind].nouns, "tags": list(found[kind].items())} for kind in _SHOWN if kind in found
    ]


def _packed(shelved: Sequence[_Shelved]) -> bytes:
    arrays, made = Arrays(), []
    for one in shelved:
        told: dict[str, Any] = {"kind": one.kind, "tag": one.items.tag, "points": len(one.items)}
        if one.stacked is not None:
            told |= {"low": plain(one.stacked.low), "high": plain(one.stacked.high), "bins": len(one.stacked.cells)}
            told["steps"] = one.stacked.step.tolist()
            told["cells"] = arrays.add(one.stacked.cells.astype(np.float32).ravel())
        else:
            values = [one.values[index] for index in sorted(one.values)]
            told["steps"] = [value["step"] for value, _ in values]
            told["values"] = [
                value
                | {"files": [[content.kind, arrays.add(np.frombuffer(content.data, np.uint8))] for content in contents]}
                for value, contents in values
            ]
        made.append(told)
    return body({"media": made}, arrays)
