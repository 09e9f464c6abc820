"""What `gradledger ls` prints: a line for each run."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from summaries.cli.views.columns import TableColumn, is_bounded, print_columns
from summaries.cli.views.faults import Troubles
from summaries.cli.views.formats import duration_text, kinds_text, size_text, step_text, time_text
from summaries.errors import FaultKind
from summaries.presenting.terminal import console, printable, progress_bar
from summaries.tools.dumping import fault_as_dict
from summaries.tools.listing import Listing, demand_runs, ls
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from summaries.storage.files import Access

    Key = Callable[[Listing], Any]
    """What listings are sorted by."""

__all__ = ["list_runs"]


def list_runs(
    *, places: tuple[str, ...], long: bool, quick: bool, key: Key | None, as_json: bool, access: Access, **chosen: Any
) -> int:
    """List the runs, and print them."""
    with progress_bar(None) as on_run:
        listings = ls(*places, **chosen, quick=quick, on_run=on_run, **access)
    if not listings:
        demand_runs(places, chosen["runs"], **access)
    if key is not None:
        listings.sort(key=key)
    if as_json:
        print(json.dumps([_as_dict(listing) for listing in listings], indent=1))
    else:
        _print(console(sys.stdout), listings, places or (".",), long=long, quick=quick)
    troubles = Troubles()
    for listing in listings:
        troubles.count(*listing.faults)
        troubles.tell(*listing.failures)
    return troubles.status


def _as_dict(listing: Listing) -> dict[str, Any]:
    """A listing as values that JSON can hold."""
    faults = [fault_as_dict(fault) for fault in listing.faults]
    return asdict(listing) | {"damaged": listing.damaged, "faults": faults}


def _print(console: Console, listings: Sequence[Listing], places: tuple[str, ...], *, long: bool, quick: bool) -> None:
    # On a terminal there is little room, and one directory would be the same in all names.
    short = is_bounded(console) and len(places) == 1 and all(listing.run != "." for listing in listings)
    names = [printable(listing.run if short else listing.path) for listing in listings]
    columns = [TableColumn("run", names, shrinks=24)]
    if long or quick:
        columns.append(TableColumn("files", [str(listing.files) for listing in listings], right=True, rank=2))
    if not quick:
        columns += (_long if long else _short)(listings)
    columns.append(TableColumn("size", [size_text(listing.size) for listing in listings], right=True, rank=1))
    if not quick:
        states = [_state(listing) for listing in listings]
        columns.append(TableColumn("state", [text for text, _ in states], styles=[style for _, style in states]))
    print_columns(console, columns)
    if is_bounded(console) and len(listings) > 1:
        damaged = sum(listing.damaged for listing in listings)
        where = f" in {printable(places[0])}" if short else ""
        parts = [counted(len(listings), "run") + where, size_text(sum(listing.size for listing in listings))]
        parts += [f"{damaged} damaged: `gradledger verify` says where"] if damaged else []
        console.print(f"\n{', '.join(parts)}", style="dim", soft_wrap=True)


def _short(listings: Sequence[Listing]) -> list[TableColumn]:
    tags = [None if listing.tags is None else sum(listing.tags.values()) for listing in listings]
    return [
        _counts("last step", [listing.steps and listing.steps[1] for listing in listings], 0),
        _counts("points", [listing.points for listing in listings], 5),
        _counts("tags", tags, 4),
        _times("started", listings, 0, 3),
        _durations(listings, 2),
    ]


def _long(listings: Sequence[Listing]) -> list[TableColumn]:
    return [
        _counts("records", [listing.records for listing in listings], 7),
        _counts("first step", [listing.steps and listing.steps[0] for listing in listings], 6),
        _counts("last step", [listing.steps and listing.steps[1] for listing in listings], 0),
        _counts("points", [listing.points for listing in listings], 5),
        TableColumn("tags", [kinds_text(listing.tags or {}) or "-" for listing in listings], rank=1),
        _times("started", listings, 0, 3),
        _times("ended", listings, 1, 8),
        _durations(listings, 4),
    ]


def _counts(title: str, counts: Sequence[int | None], rank: int) -> TableColumn:
    return TableColumn(title, list(map(step_text, counts)), right=True, rank=rank)


def _times(title: str, listings: Sequence[Listing], end: int, rank: int) -> TableColumn:
    times = [time_text(listing.wall_times[end]) if listing.wall_times else "-" for listing in listings]
    return TableColumn(title, times, rank=rank)


def _durations(listings: Sequence[Listing], rank: int) -> TableColumn:
    spans = [listing.wall_times for listing in listings]
    texts = [duration_text(span[1] - span[0]) if span else "-" for span in spans]
    return TableColumn("took", texts, right=True, rank=rank)


def _state(listing: Listing) -> tuple[str, str]:
    """What is wrong with a run, and its colour."""
    if listing.failures:
        return "unreadable" if listing.records is None else "partly read", "bold red"
    if listing.damaged:
        if {fault.kind for fault in listing.faults} == {FaultKind.NO_EVENT_FILE} and not listing.records:
            return FaultKind.NO_EVENT_FILE.value, "bold red"
        count = sum(fault.kind.is_damage for fault in listing.faults)
        return f"damaged ({counted(count, 'fault')})", "bold red"
    if any(fault.kind.is_data_loss for fault in listing.faults):
        return "unfinished", "yellow"
    if not listing.points:
        return "no values", "yellow"
    return (counted(len(listing.faults), "note"), "yellow") if listing.faults else ("ok", "green")
