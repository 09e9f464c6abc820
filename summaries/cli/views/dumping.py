"""What `gradledger dump` prints: the events and faults of a file."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from summaries.cli.views.faults import Troubles
from summaries.cli.views.formats import number_text, size_text, time_text
from summaries.errors import Fault
from summaries.presenting.terminal import console, printable
from summaries.tools.dumping import DumpedEvent, dump, event_as_dict, fault_as_dict
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from summaries.storage.files import Access

    _Parts = tuple[tuple[str, str], ...]

__all__ = ["dump_files"]

_OFFSET = 10  # the width of an offset
_TIME = 23  # and of a time
_LARGEST_SINGLE = float(np.finfo(np.float32).max)


def dump_files(files: tuple[str, ...], full: bool, tags: tuple[str, ...] | None, as_json: bool, access: Access) -> int:
    """Print the events and faults of each file."""
    printing = console(sys.stdout)
    coloured = printing.color_system is not None
    troubles = Troubles()
    matched = False
    for path in files:
        shown_path = ""
        for item in dump(path, tags, troubles.tell, **access):
            if isinstance(item, Fault):
                troubles.count(item)
            else:
                matched = True
            if as_json:
                print(json.dumps(fault_as_dict(item) if isinstance(item, Fault) else event_as_dict(item, full=full)))
                continue
            if item.path != shown_path:
                shown_path = item.path
                _print_line(printing, coloured, ((printable(shown_path), "bold"),))
            for line in _lines(item, full=full):
                _print_line(printing, coloured, line)
    if tags and not matched:
        raise LookupError(f"no tag matches {' or '.join(map(repr, tags))}")
    return troubles.status


def _print_line(printing: Console, coloured: bool, parts: _Parts) -> None:
    if coloured:
        printing.print(Text.assemble(*parts), soft_wrap=True)
    else:  # many times faster
        print("".join(text for text, _ in parts))


def _lines(item: DumpedEvent | Fault, *, full: bool) -> Iterator[_Parts]:
    """The lines for an event, one for each of its values, or for a fault: texts with their styles."""
    offset = f"{item.offset:>{_OFFSET}}  "
    if isinstance(item, Fault):
        text = f"{item.kind}: {item.reason}: got {item.got}, want {item.want} ({counted(item.length, 'byte')})"
        yield (offset, "dim"), (printable(text), "bold red" if item.kind.is_damage else "yellow")
        return
    event = event_as_dict(item, full=full)
    head = f"{offset}{time_text(item.event.wall_time, millis=True):{_TIME}}  ", "dim"
    values = event.get("summary")
    if values is None:
        others = [f"{name} {_short(value)}" for name, value in event.items() if name not in _PLACE]
        yield head, (printable(", ".join(others) or "nothing"), "")
        return
    step = f"step {event['step']}  ", ""
    for value in values:
        yield head, step, (printable(value["tag"]), "cyan"), (printable(f"  {_described(value)}"), "")
    if not values:
        yield head, step, ("no values", "")


_PLACE = frozenset({"file", "offset", "length", "wall_time", "step"})


def _described(value: dict[str, Any]) -> str:
    """What a value is, in one line."""
    kind = value["kind"]
    if kind == "scalar":
        return _shortest(value["value"])
    if "error" in value:
        return f"{kind}, damaged: {value['error']}"
    if kind == "text":
        return repr(value["text"]) if "text" in value else repr(value["texts"])
    if kind == "none":
        return f"no value, of plugin {value['plugin']}" if "plugin" in value else "no value"
    facts = {name: fact for name, fact in value.items() if name not in {"tag", "kind", "bytes", "base64"}}
    sizes = [size_text(sum(value["bytes"]))] if "bytes" in value else []
    return " ".join([kind, *(f"{name}={_short(fact)}" for name, fact in facts.items() if fact != [""]), *sizes])


def _shortest(number: float | str) -> str:
    """The shortest text that means this number, to the precision in which it was most likely written."""
    if isinstance(number, str):
        return number
    single = np.float32(number) if abs(number) <= _LARGEST_SINGLE else None
    return str(single) if single is not None and float(single) == number else repr(number)


def _short(value: Any) -> str:
    """A part of a description, in one line."""
    if isinstance(value, dict):
        return " ".join(f"{name}={_short(part)}" for name, part in value.items() if part != "")
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return number_text(value) if isinstance(value, float) else str(value)
