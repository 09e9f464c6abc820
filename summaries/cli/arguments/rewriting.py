"""What the commands that write new runs share: their arguments, and how they say what was written."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import Decorator, access_options, json_option, runs_option
from summaries.cli.views.faults import Troubles
from summaries.presenting.terminal import printable, progress_bar
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from summaries.storage.files import Access
    from summaries.tools import Rewritten

__all__ = [
    "STATUS",
    "new_directory_option",
    "path_argument",
    "print_written",
    "report",
    "rewriting",
    "rewriting_options",
]

STATUS = (
    "0 if all was written, 1 if files are damaged and the rest of them was written, 2 if a file or directory cannot be "
    "read, or it failed."
)

path_argument: Decorator = click.argument("path", metavar="PLACE", shell_complete=complete_runs)
new_directory_option: Decorator = click.option(
    "-o", "--output", type=click.Path(), metavar="DIR", required=True, help="A new directory, or an empty one."
)


def report(result: Rewritten, troubles: Troubles, as_json: bool) -> int:
    """Print what was written, tell of the faults, and return the exit status."""
    if as_json:
        troubles.count(*result.faults)
        print(json.dumps({**asdict(result), "damaged": result.damaged, "lost_bytes": result.lost_bytes}))
        return troubles.status
    troubles.tell(*result.faults)
    print_written(result)
    return troubles.status


def print_written(result: Rewritten) -> None:
    """Print where how much was written."""
    runs = "" if result.runs == (".",) else f"{counted(len(result.runs), 'run')}, "
    dropped = f"; {counted(result.dropped, 'value')} left out" if result.dropped else ""
    print(f"{printable(result.path)}: {runs}{counted(result.events, 'event')}{dropped}")


def rewriting(
    function: Callable[..., Rewritten], report: Callable[[Rewritten, Troubles, bool], int] = report
) -> Callable[..., int]:
    """Make a command of a function that rewrites runs, and returns what was written.

    The function gets what was typed as functions in `tools` take it, with `on_run` and `on_error`.
    """

    @functools.wraps(function)
    def command(*, as_json: bool, access: Access, **options: Any) -> int:
        troubles = Troubles()
        with progress_bar(None) as on_progress:
            result = function(on_run=lambda name: on_progress(name, None), on_error=troubles.tell, **access, **options)
        return report(result, troubles, as_json)

    return command


def rewriting_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add `PLACE`, `--output`, `--runs`, `--json`, and the options for addresses."""
    return path_argument(new_directory_option(runs_option(json_option(access_options(function)))))
