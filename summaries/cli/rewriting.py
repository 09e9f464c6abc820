"""What the commands that write new runs share: their options, and how they say what was written."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from summaries.cli.faults import Troubles
from summaries.cli.options import access_options, json_option, runs_option
from summaries.terminal import printable, progress_bar
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.tools import Rewritten

__all__ = ["STATUS", "new_place_option", "report", "rewriting_options"]

STATUS = (
    "0 if all was written, 1 if files are damaged and the rest of them was written, 2 if a file or directory cannot be "
    "read, or it failed."
)

new_place_option = click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DIR",
    required=True,
    help="A new directory, or an empty one.",
)


def rewriting_options(function: Callable[..., Rewritten]) -> Callable[..., int]:
    """Add `--output`, `--runs`, `--json` and the options for addresses to a command that returns what was written.

    The function gets `output`, `runs`, `on_run`, and what `access` contains, as functions in `tools` take them.
    """

    @new_place_option
    @runs_option
    @json_option
    @access_options
    @functools.wraps(function)
    def command(*, as_json: bool, runs: tuple[str, ...], access: dict[str, Any], **options: Any) -> int:
        troubles = Troubles()
        with progress_bar(None) as on_progress:
            result = function(
                runs=runs or None,
                on_run=lambda name: on_progress(name, None),
                on_error=troubles.tell,
                **access,
                **options,
            )
        return report(result, troubles, as_json=as_json)

    return command


def report(result: Rewritten, troubles: Troubles, *, as_json: bool, faults_are_told: bool = False) -> int:
    """Print what was written, and the faults unless they are told, and return the exit status."""
    if as_json or faults_are_told:
        troubles.count(*result.faults)
    else:
        troubles.tell(*result.faults)
    if as_json:
        print(json.dumps({**asdict(result), "damaged": result.damaged, "lost_bytes": result.lost_bytes}))
        return troubles.status
    runs = "" if result.runs == (".",) else f"{counted(len(result.runs), 'run')}, "
    dropped = f"; {counted(result.dropped, 'value')} left out" if result.dropped else ""
    print(f"{printable(result.path)}: {runs}{counted(result.events, 'event')}{dropped}")
    return troubles.status
