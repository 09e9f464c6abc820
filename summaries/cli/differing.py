"""What `gradledger diff` prints: where two runs part, and by how much."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from summaries.cli.columns import Column, is_bounded, print_columns
from summaries.cli.faults import Troubles
from summaries.cli.formats import kind_text, number_text, step_text
from summaries.terminal import console, printable, progress_bar
from summaries.tools.described import plain
from summaries.tools.differing import Diff, RunDiff, TagDiff, diff
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from summaries.reading.run import Run
    from summaries.storage.files import Access

__all__ = ["compare_runs"]

_MOST_NAMES = 20  # that are listed of tags or runs which only one side has


def compare_runs(
    a: str,
    b: str,
    rtol: float,
    atol: float,
    common_steps: bool,
    every: bool,
    quiet: bool,
    runs: tuple[str, ...],
    tags: tuple[str, ...],
    as_json: bool,
    access: Access,
) -> int:
    """Compare, and print what is different."""
    options: dict[str, Any] = {"rtol": rtol, "atol": atol, "common_steps": common_steps}
    with progress_bar(None) as on_progress:

        def on_run(name: str, both: tuple[Run, Run]) -> None:
            on_progress(name, None)
            for run in both:
                Troubles().tell_first(run.faults)

        found = diff(a, b, runs=runs or None, tags=tags or None, **options, on_run=on_run, **access)
    if as_json:
        print(json.dumps(_as_dict(found), indent=1))
    elif not quiet:
        _print(console(sys.stdout), found, (printable(a), printable(b)), every=every)
    return int(found.different)


def _as_dict(found: Diff) -> dict[str, Any]:
    return {
        "different": found.different,
        "only": plain(found.only),
        "runs": {
            name: plain(asdict(run)) | {"different": run.different, "first_step": run.first_step}
            for name, run in found.runs.items()
        },
    }


def _print(console: Console, found: Diff, names: tuple[str, str], *, every: bool) -> None:
    for place, only in zip(names, found.only, strict=True):
        _print_only(console, "runs", place, only)
    several = len(found.runs) > 1
    for name, run in found.runs.items():
        if several and (run.different or every):
            console.print(Text(printable(name), "bold"), soft_wrap=True)
        if not several or run.different or every:
            _print_run(console, run, names, every=every)
        if several and (run.different or every):
            console.print()
    if several or not found.runs:
        apart = sum(run.different for run in found.runs.values())
        told = f"{counted(len(found.runs), 'run')} in both: {apart} different, {len(found.runs) - apart} the same"
        told = told if found.runs else "no run of the same name is in both"
        console.print(Text(told, "dim"), soft_wrap=True)


def _print_run(console: Console, found: RunDiff, names: tuple[str, str], *, every: bool) -> None:
    """Print where two runs part, and then how."""
    _print_summary(console, found, names)
    for place, only in zip(names, found.only, strict=True):
        _print_only(console, "tags", place, only)
    if found.hyperparameters:
        console.print()
        rows = found.hyperparameters.items()
        columns = [Column("hyperparameter", [printable(name) for name, _ in rows], shrinks=24)]
        for side in (0, 1):
            cells = ["-" if pair[side] is None else printable(_plainly(pair[side])) for _, pair in rows]
            columns.append(Column(names[side], cells, shrinks=24))
        print_columns(console, columns)
    tags = found.tags if every else found.different_tags
    scalars = [tag for tag in tags if tag.distance is not None]
    others = [tag for tag in tags if tag.distance is None]
    if scalars:
        console.print()
        print_columns(console, _columns(scalars, names))
    if others:
        console.print()
        print_columns(console, _other_columns(others))


def _plainly(value: Any) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


def _print_summary(console: Console, found: RunDiff, names: tuple[str, str]) -> None:
    """Print what a user wants to know first, in a line or two."""
    if not found.different:
        console.print(Text(f"the same: {counted(len(found.tags), 'tag')} at all steps", "green"), soft_wrap=True)
        return
    said = [_parting("curves", [tag for tag in found.tags if tag.distance is not None])]
    said += [_parting("other values", [tag for tag in found.tags if tag.distance is None])]
    if not any(said):
        said = ["no value differs at a common step"]
        shorter = [printable(tag.tag) for tag in found.different_tags if any(tag.only)]
        said += [f"only one has all steps of {listed(shorter)}"] if shorter else []
    for sentence in filter(None, said):
        console.print(Text(sentence, "bold yellow"), soft_wrap=not is_bounded(console))


def _parting(what: str, tags: Sequence[TagDiff]) -> str:
    """Where values of some tags first differ; "" if they do not."""
    steps = [tag.first_step for tag in tags if tag.first_step is not None]
    if not steps:
        return ""
    first = [printable(tag.tag) for tag in tags if tag.first_step == min(steps)]
    return (
        f"{what} part at step {step_text(min(steps))}, in {listed(first)} ({len(steps)} of {counted(len(tags), 'tag')})"
    )


def _print_only(console: Console, what: str, place: str, names: Sequence[str]) -> None:
    """Print the tags or runs that only one side has."""
    if not names:
        return
    told = ", ".join(map(printable, names[:_MOST_NAMES]))
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    console.print(Text(f"{what} only in {place}: {told}{more}"), soft_wrap=True)


def _columns(tags: Sequence[TagDiff], names: tuple[str, str]) -> list[Column]:
    distances = [tag.distance for tag in tags]

    def numbers(title: str, name: str, rank: int) -> Column:
        return Column(title, [_number(getattr(one, name)) for one in distances], right=True, rank=rank)

    relatives = [("max rel.", "max_relative", 2), ("mean rel.", "mean_relative", 5)]
    return [
        *_step_columns(tags),
        numbers("max diff.", "max", 0),
        Column("at", [step_text(one.max_step) if one else "" for one in distances], right=True, rank=6),
        numbers("mean diff.", "mean", 4),
        *(
            Column(title, [_percent(getattr(one, name)) for one in distances], right=True, rank=rank)
            for title, name, rank in relatives
        ),
        Column("last in A", [_number(one.last[0]) if one else "" for one in distances], right=True, rank=1),
        Column("last in B", [_number(one.last[1]) if one else "" for one in distances], right=True, rank=1),
    ]


def _step_columns(tags: Sequence[TagDiff]) -> list[Column]:
    """The tag, where it differs, and how often."""
    return [
        Column("tag", [printable(tag.tag) for tag in tags], shrinks=32),
        Column("from step", [step_text(tag.first_step) for tag in tags], right=True),
        Column("differ", [f"{tag.unequal:,} of {tag.common:,}" for tag in tags], right=True, rank=3),
        Column("only A", [f"{tag.only[0]:,}" if any(one.only[0] for one in tags) else "" for tag in tags], right=True),
        Column("only B", [f"{tag.only[1]:,}" if any(one.only[1] for one in tags) else "" for tag in tags], right=True),
    ]


def _other_columns(tags: Sequence[TagDiff]) -> list[Column]:
    tag, *others = _step_columns(tags)
    return [tag, Column("kind", [kind_text(one.kind) for one in tags]), *others]


def _number(value: float) -> str:
    return "-" if math.isnan(value) else number_text(value)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.3g} %"
