"""`gradledger reduce`: statistics over runs, as runs that TensorBoard overlays, or as a table."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, json_option, new_command, runs_option, tags_option
from summaries.cli.views.faults import Troubles, tell_unmatched
from summaries.presenting.terminal import printable, progress_bar
from summaries.storage.credentials import without_credentials
from summaries.tools.choices import ALIGNMENTS, STATISTICS
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.tools import Reduced


def _least_runs(ctx: click.Context, param: click.Parameter, value: str) -> int | str:
    """A number of runs, or "all" of them."""
    try:
        return value if value == "all" else int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither an integer nor 'all'", ctx, param) from None


@new_command(
    section="Reshape",
    summary="Compute the mean and spread of runs, such as over seeds.",
    help="Compute the mean, spread and other statistics of several runs, step by step, such as of one configuration "
    "with different seeds. A directory stands for all runs below it.",
    examples=[
        "gradledger reduce runs/seed-* -o reduced",
        "gradledger reduce runs --by all -o reduced",
        "gradledger reduce runs --statistics mean,q0.1,q0.9 --align union -o reduced.csv",
    ],
    status="0 if no file is damaged, 1 if files are and the rest of them was used, 2 if it failed.",
)
@click.argument("places", nargs=-1, required=True, metavar="RUN...", shell_complete=complete_runs)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(),
    metavar="TARGET",
    help="A new directory, with a run for each statistic; or a new .csv or .parquet file; or - for CSV on standard "
    "output.",
)
@click.option(
    "--statistics",
    default=",".join(STATISTICS),
    show_default=True,
    metavar="NAMES",
    help="Any of mean, median, std, min, max, count, mean+std, mean-std, and quantiles such as q0.25.",
)
@click.option(
    "--align",
    type=click.Choice(ALIGNMENTS),
    default="exact",
    show_default=True,
    help="At which steps: those that all runs have; those that any has; the same, with straight lines between points.",
)
@click.option(
    "--min-runs",
    metavar="N|all",
    callback=_least_runs,
    default="1",
    show_default=True,
    help="Leave out tags that fewer runs have, and steps at which fewer have a value.",
)
@click.option(
    "--by",
    metavar="NAMES",
    help="Reduce apart for each value of these hyperparameters, such as lr,bs; all: of all that vary but seeds.",
)
@click.option("--skip-nan", is_flag=True, help="A value that is NaN counts as none, instead of making its step NaN.")
@click.option("--ddof", type=int, default=1, show_default=True, help="Divide by the number of runs less this in std.")
@tags_option
@runs_option
@json_option
@access_options
def command(
    *,
    places: tuple[str, ...],
    output: str,
    statistics: str,
    by: str | None,
    tags: tuple[str, ...] | None,
    runs: tuple[str, ...] | None,
    as_json: bool,
    access: Access,
    **options: Any,
) -> int:
    """Reduce each group, and say what was written and what was left out."""
    from summaries.auditing.comparison.hyperparameters import alike
    from summaries.reading.stated import STATING_TAGS, configuration
    from summaries.tools.reducing.reduction import reduce, write_groups
    from summaries.tools.runs import runs_at

    chosen = runs_at(places, runs, tags=tags, **access)
    groups = {"": list(chosen)}
    if by is not None:
        names = () if by == "all" else tuple(by.split(","))
        stating = runs_at(places, runs, tags=STATING_TAGS, **access).items()
        groups = alike({name: configuration(name, run, names) for name, run in stating}, names)
    troubles = Troubles()

    def on_run(name: str, run: Run) -> None:
        troubles.tell(*run.faults)
        on_progress(name, run)

    reports: list[object] = []
    seen: set[str] = set()

    def reduced() -> Iterator[tuple[str, Reduced]]:
        for group, names in groups.items():
            result = reduce(chosen.among(names), statistics.split(","), tags=tags, on_run=on_run, **options)
            seen.update(result, result.left_out)
            reports.append(_as_dict(group, result) if as_json else _text(without_credentials(output), group, result))
            yield group, result

    with progress_bar(len(chosen)) as on_progress:
        write_groups(reduced(), sys.stdout if output == "-" else output, **access)
    if not seen:
        tell_unmatched(tags)
    text = json.dumps(reports, indent=2) if as_json else "\n".join(map(str, reports))
    print(text, file=sys.stderr if output == "-" else sys.stdout)
    return troubles.status


def _text(output: str, group: str, reduced: Reduced) -> str:
    where = f"{output}, {group}" if group else output
    counts = f"{counted(len(reduced), 'tag')} in {counted(len(reduced.runs), 'run')}"
    lines = f"{where}: {', '.join(reduced.statistics)} of {counts}", *(f"  {note}" for note in reduced.notes)
    return "\n".join(map(printable, lines))


def _as_dict(group: str, reduced: Reduced) -> dict[str, object]:
    tags = {
        name: {
            "runs": len(tag.runs),
            "steps": len(tag),
            "steps_left_out": tag.steps_left_out,
            "superseded": tag.superseded,
            "nans": tag.nans,
        }
        for name, tag in reduced.items()
    }
    return {
        **({"group": group} if group else {}),
        "runs": reduced.runs,
        "statistics": reduced.statistics,
        "tags": tags,
        "missing": dict(reduced.missing),
        "left_out": reduced.left_out,
    }
