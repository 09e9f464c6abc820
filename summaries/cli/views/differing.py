"""What `gradledger diff` prints: where two runs part, and by how much."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from summaries.cli.views.columns import TableColumn, is_bounded, print_columns
from summaries.cli.views.faults import Troubles
from summaries.cli.views.formats import kind_text, number_text, step_text, value_text
from summaries.presenting.terminal import console, printable, progress_bar
from summaries.tools.described import plain
from summaries.tools.differing import Diff, Distance, RunDiff, TagDiff, diff
from summaries.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from summaries.reading.run import Run
    from summaries.storage.files import Access

__all__ = ["compare_runs"]

_MOST_NAMES = 20  # that are listed of tags or runs which only one side has


def compare_runs(*, a: str, b: str, every: bool, quiet: bool, as_json: bool, access: Access, **options: Any) -> int:
    """Compare, and print what is different."""
    with progress_bar(None) as on_progress:

        def on_run(name: str, both: tuple[Run, Run]) -> None:
            on_progress(name, None)
            for run in both:
                Troubles().tell(*run.faults)

        difference = diff(a, b, **options, on_run=on_run, **access)
    if as_json:
        print(json.dumps(_as_dict(difference), indent=1))
    elif not quiet:
        _print(console(sys.stdout), difference, (printable(a), printable(b)), every=every)
    return int(difference.different)


def _as_dict(difference: Diff) -> dict[str, Any]:
    return {
        "different": difference.different,
        "only": plain(difference.only),
        "runs": {
            name: plain(asdict(run)) | {"different": run.different, "first_step": run.first_step}
            for name, run in difference.runs.items()
        },
    }


def _print(console: Console, difference: Diff, sides: tuple[str, str], *, every: bool) -> None:
    _print_only(console, "runs", sides, difference.only)
    several = len(difference.runs) > 1
    for name, run in difference.runs.items():
        if not several:
            _print_run(console, run, sides, every=every)
        elif run.different or every:
            console.print(Text(printable(name), "bold"), soft_wrap=True)
            _print_run(console, run, sides, every=every)
            console.print()
    if several:
        count, apart = len(difference.runs), sum(run.different for run in difference.runs.values())
        text = f"{counted(count, 'run')} in both: {apart} different, {count - apart} the same"
        console.print(Text(text, "dim"), soft_wrap=True)
    elif not difference.runs:
        console.print(Text("no run of the same name is in both", "dim"), soft_wrap=True)


def _print_run(console: Console, run: RunDiff, sides: tuple[str, str], *, every: bool) -> None:
    """Print where two runs part, and then how."""
    _print_summary(console, run)
    _print_only(console, "tags", sides, run.only)
    tags = run.tags if every else run.different_tags
    scalars = [tag for tag in tags if tag.distance is not None]
    others = [tag for tag in tags if tag.distance is None]
    tables = [_hyperparameter_columns(run, sides)] if run.hyperparameters else []
    tables += [_columns(scalars)] if scalars else []
    tables += [_other_columns(others)] if others else []
    for columns in tables:
        console.print()
        print_columns(console, columns)


def _hyperparameter_columns(run: RunDiff, sides: tuple[str, str]) -> list[TableColumn]:
    names = [printable(name) for name in run.hyperparameters]
    columns = [TableColumn("hyperparameter", names, shrinks=24)]
    for side, values in zip(sides, zip(*run.hyperparameters.values(), strict=True), strict=True):
        cells = ["-" if value is None else printable(value_text(value)) for value in values]
        columns.append(TableColumn(side, cells, shrinks=24))
    return columns


def _print_summary(console: Console, run: RunDiff) -> None:
    """Print what a user wants to know first, in a line or two."""
    if not run.different:
        console.print(Text(f"the same: {counted(len(run.tags), 'tag')} at all steps", "green"), soft_wrap=True)
        _print_uncounted(console, run)
        return
    sentences = [_parting("curves", [tag for tag in run.tags if tag.distance is not None])]
    sentences += [_parting("other values", [tag for tag in run.tags if tag.distance is None])]
    if not any(sentences):
        sentences = ["no value differs at a common step"]
        shorter = [printable(tag.tag) for tag in run.different_tags if any(tag.only)]
        sentences += [f"only one has all steps of {listed(shorter)}"] if shorter else []
    for sentence in filter(None, sentences):
        console.print(Text(sentence, "bold yellow"), soft_wrap=not is_bounded(console))
    _print_uncounted(console, run)


def _print_uncounted(console: Console, run: RunDiff) -> None:
    """Say what was left out, so that nobody takes it for the same."""
    if run.of_machine:
        names = listed([printable(tag) for tag in run.of_machine])
        sentence = f"not compared, since it measures the machine (--tags compares it): {names}"
        console.print(Text(sentence, "dim"), soft_wrap=True)


def _parting(what: str, tags: Sequence[TagDiff]) -> str:
    """Where values of some tags first differ; "" if they do not."""
    steps = [tag.first_step for tag in tags if tag.first_step is not None]
    if not steps:
        return ""
    first = [printable(tag.tag) for tag in tags if tag.first_step == min(steps)]
    number = f"{len(steps)} of {counted(len(tags), 'tag')}"
    return f"{what} part at step {step_text(min(steps))}, in {listed(first)} ({number})"


def _print_only(
    console: Console, what: str, sides: tuple[str, str], only: tuple[tuple[str, ...], tuple[str, ...]]
) -> None:
    """Print the tags or runs that only one side has."""
    for side, names in zip(sides, only, strict=True):
        if names:
            shown = ", ".join(map(printable, names[:_MOST_NAMES]))
            more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
            console.print(Text(f"{what} only in {side}: {shown}{more}"), soft_wrap=True)


def _columns(tags: Sequence[TagDiff]) -> list[TableColumn]:
    distances = [tag.distance for tag in tags]

    def column(title: str, rank: int, text: Callable[[Distance], str]) -> TableColumn:
        return TableColumn(title, [text(one) if one else "" for one in distances], right=True, rank=rank)

    return [
        *_step_columns(tags),
        column("max diff.", 0, lambda distance: _number(distance.max)),
        column("at", 6, lambda distance: step_text(distance.max_step)),
        column("mean diff.", 4, lambda distance: _number(distance.mean)),
        column("max rel.", 2, lambda distance: _percent(distance.max_relative)),
        column("mean rel.", 5, lambda distance: _percent(distance.mean_relative)),
        column("last in A", 1, lambda distance: _number(distance.last[0])),
        column("last in B", 1, lambda distance: _number(distance.last[1])),
    ]


def _step_columns(tags: Sequence[TagDiff]) -> list[TableColumn]:
    """The tag, where it differs, and how often."""
    columns = [
        TableColumn("tag", [printable(tag.tag) for tag in tags], shrinks=32),
        TableColumn("from step", [step_text(tag.first_step) for tag in tags], right=True),
        TableColumn("differ", [f"{tag.unequal:,} of {tag.common:,}" for tag in tags], right=True, rank=3),
    ]
    for side, title in enumerate(("only A", "only B")):
        has_any = any(tag.only[side] for tag in tags)
        columns.append(TableColumn(title, [f"{tag.only[side]:,}" if has_any else "" for tag in tags], right=True))
    return columns


def _other_columns(tags: Sequence[TagDiff]) -> list[TableColumn]:
    tag, *others = _step_columns(tags)
    return [tag, TableColumn("kind", [kind_text(one.kind) for one in tags]), *others]


def _number(value: float) -> str:
    return "-" if math.isnan(value) else number_text(value)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.3g} %"
