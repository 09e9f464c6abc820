"""What `gradledger reduce` does: each group of runs to its statistics, and what is said about it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from summaries.auditing.comparison.hyperparameters import alike, from_name
from summaries.cli.faults import Troubles
from summaries.storage.credentials import without_credentials
from summaries.terminal import printable, progress_bar
from summaries.tools.places import RunsAt
from summaries.tools.reduction import reduce, write_groups, write_groups_csv
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.tools.reduction import Reduced

__all__ = ["reduce_runs"]


def reduce_runs(
    places: tuple[str, ...],
    output: str,
    statistics: str,
    by: str | None,
    tags: tuple[str, ...],
    runs: tuple[str, ...],
    as_json: bool,
    access: Access,
    **how: Any,
) -> int:
    """Reduce each group, and say what was written and what was left out."""
    chosen = RunsAt(places, runs or None, tags=tags or None, **access)
    groups = {"": list(chosen)}
    if by is not None:
        stated = _configurations(RunsAt(places, runs or None, tags="_hparams_/*", **access))
        groups = alike(stated, () if by == "all" else by.split(","))
    troubles = Troubles()

    def on_run(name: str, run: Run) -> None:
        troubles.tell(*run.faults)
        on_progress(name, run)

    facts: list[object] = []
    seen: set[str] = set()

    def reduced() -> Iterator[tuple[str, Reduced]]:
        for group, names in groups.items():
            found = reduce(chosen.among(names), statistics.split(","), tags=tags or None, on_run=on_run, **how)
            seen.update(found, found.left_out)
            facts.append(_facts(group, found) if as_json else _said(without_credentials(output), group, found))
            yield group, found

    with progress_bar(len(chosen)) as on_progress:
        if output == "-":
            write_groups_csv(reduced(), sys.stdout)
        else:
            write_groups(reduced(), output, **access)
    if tags and not seen:
        print(f"gradledger: no tag matches {printable(' or '.join(map(repr, tags)))}", file=sys.stderr)
    shown = json.dumps(facts, indent=2) if as_json else "\n".join(map(str, facts))
    print(shown, file=sys.stderr if output == "-" else sys.stdout)
    return troubles.status


def _configurations(runs: RunsAt) -> dict[str, Mapping[str, bool | float | str]]:
    """The hyperparameters of each run: its name goes before the hparams dashboard."""
    return {name: {**run.hparams, **from_name(name)} for name, run in runs.items()}


def _said(output: str, group: str, reduced: Reduced) -> str:
    place = f"{output}, {group}" if group else output
    counts = f"{counted(len(reduced), 'tag')} in {counted(len(reduced.runs), 'run')}"
    lines = f"{place}: {', '.join(reduced.statistics)} of {counts}", *(f"  {note}" for note in reduced.notes)
    return "\n".join(map(printable, lines))


def _facts(group: str, reduced: Reduced) -> dict[str, object]:
    tags = {
        tag: {
            "runs": len(one.runs),
            "steps": len(one),
            "steps_left_out": one.steps_left_out,
            "superseded": one.superseded,
            "nans": one.nans,
        }
        for tag, one in reduced.items()
    }
    facts = {"runs": reduced.runs, "statistics": reduced.statistics, "tags": tags, "missing": dict(reduced.missing)}
    return {"group": group, **facts, "left_out": reduced.left_out} if group else {**facts, "left_out": reduced.left_out}
