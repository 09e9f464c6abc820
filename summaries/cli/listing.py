"""What `gradledger ls` prints: a line for each run."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from summaries.cli.columns import Column, is_bounded, print_columns
from summaries.cli.faults import Troubles
from summaries.cli.formats import duration_text, kinds_text, size_text, step_text, time_text
from summaries.cli.ls import SORTS
from summaries.terminal import console, printable, progress_bar
from summaries.tools.dumping import fault_as_dict
from summaries.tools.listing import Listing, demand_runs, ls
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from summaries.storage.files import Access

__all__ = ["list_runs"]


def list_runs(
    places: tuple[str, ...],
    long: bool,
    quick: bool,
    sort: str,
    runs: tuple[str, ...],
    tags: tuple[str, ...],
    as_json: bool,
    access: Access,
) -> int:
    """List the runs, and print them."""
    with progress_bar(None) as on_run:
        found = ls(*places, runs=runs or None, tags=tags or None, quick=quick, on_run=on_run, **access)
    if not found:
        demand_runs(places, runs or None, **access)
    if sort != "name":
        found.sort(key=SORTS[sort])
    if as_json:
        print(json.dumps([as_dict(one) for one in found], indent=1))
    else:
        _print(console(sys.stdout), found, places or (".",), long=long, quick=quick)
    troubles = Troubles()
    for one in found:
        troubles.count(*one.faults)
        troubles.tell(*one.failures)
    return troubles.status


def as_dict(found: Listing) -> dict[str, Any]:
    """A listing as values that JSON can hold."""
    faults = [fault_as_dict(fault) for fault in found.faults]
    return asdict(found) | {"damaged": found.damaged, "faults": faults}


def _print(console: Console, found: Sequence[Listing], places: tuple[str, ...], *, long: bool, quick: bool) -> None:
    # On a terminal there is little room, and one place would be the same in all names.
    short = is_bounded(console) and len(places) == 1 and all(one.run != "." for one in found)
    runs = Column("run", [printable(one.run if short else one.path) for one in found], shrinks=24)
    files = Column("files", [str(one.files) for one in found], right=True, rank=2)
    size = Column("size", [size_text(one.size) for one in found], right=True, rank=1)
    if quick:
        print_columns(console, [runs, files, size])
    else:
        print_columns(console, [runs, *(_long(found, files, size) if long else _short(found, size)), _states(found)])
    if is_bounded(console) and len(found) > 1:
        damaged = sum(one.damaged for one in found)
        where = f" in {printable(places[0])}" if short else ""
        told = [counted(len(found), "run") + where, size_text(sum(one.size for one in found))]
        told += [f"{damaged} damaged: `gradledger verify` says where"] if damaged else []
        console.print(f"\n{', '.join(told)}", style="dim", soft_wrap=True)


def _short(found: Sequence[Listing], size: Column) -> list[Column]:
    return [
        Column("last step", [step_text(one.steps and one.steps[1]) for one in found], right=True),
        Column("points", [step_text(one.points) for one in found], right=True, rank=5),
        Column("tags", [_tags(one) for one in found], right=True, rank=4),
        Column("started", [_time(one, 0) for one in found], rank=3),
        Column("took", [_took(one) for one in found], right=True, rank=2),
        size,
    ]


def _long(found: Sequence[Listing], files: Column, size: Column) -> list[Column]:
    return [
        files,
        Column("records", [step_text(one.records) for one in found], right=True, rank=7),
        Column("first step", [step_text(one.steps and one.steps[0]) for one in found], right=True, rank=6),
        Column("last step", [step_text(one.steps and one.steps[1]) for one in found], right=True),
        Column("points", [step_text(one.points) for one in found], right=True, rank=5),
        Column("tags", [kinds_text(one.tags or {}) or "-" for one in found], rank=1),
        Column("started", [_time(one, 0) for one in found], rank=3),
        Column("ended", [_time(one, 1) for one in found], rank=8),
        Column("took", [_took(one) for one in found], right=True, rank=4),
        size,
    ]


def _tags(found: Listing) -> str:
    return "-" if found.tags is None else step_text(sum(found.tags.values()))


def _time(found: Listing, which: int) -> str:
    return time_text(found.wall_times[which]) if found.wall_times else "-"


def _took(found: Listing) -> str:
    return duration_text(found.wall_times[1] - found.wall_times[0]) if found.wall_times else "-"


def _states(found: Sequence[Listing]) -> Column:
    states = [_state(one) for one in found]
    return Column("state", [text for text, _ in states], styles=[style for _, style in states])


def _state(found: Listing) -> tuple[str, str]:
    """What is wrong with a run, and its colour."""
    if found.failures:
        return "unreadable" if found.records is None else "partly read", "bold red"
    if found.damaged:
        return f"damaged ({counted(len(found.faults), 'fault')})", "bold red"
    if any(fault.kind.is_data_loss for fault in found.faults):
        return "unfinished", "yellow"
    if not found.points:
        return "no values", "yellow"
    return (counted(len(found.faults), "note"), "yellow") if found.faults else ("ok", "green")
