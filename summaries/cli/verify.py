"""`gradledger verify`: check every byte of event files."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from summaries.cli.candidates import complete_runs
from summaries.cli.faults import UNREAD, Troubles, error_text
from summaries.cli.options import access_options, examples, executor_option
from summaries.storage.logdir import files_below
from summaries.storage.protocols import UnreachableError
from summaries.terminal import printable
from summaries.words import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from summaries.storage.files import Access
    from summaries.tools.verifying import Verdict

__all__ = ["command"]


@click.command(
    help="Check every byte of event files: those that PATHS name, and all below directories.",
    epilog=examples(
        "gradledger verify runs",
        "gradledger verify s3://bucket/runs",
        "gradledger verify --json runs | jq .path",
        "gradledger verify s3://bucket/runs --dask tcp://scheduler:8786",
        status="0 if no file is damaged, 1 if one is, 2 if one cannot be read or is no event file.",
    ),
)
@click.argument("paths", nargs=-1, required=True, shell_complete=complete_runs)
@click.option("--json", "as_json", is_flag=True, help="Write a line of JSON for each file, for programs.")
@executor_option
@access_options
def command(paths: tuple[str, ...], as_json: bool, executor: Executor | None, access: Access) -> int:
    """Verify each file, and print what was found, with a sum at the end if there are several."""
    from summaries.tools.verifying import verdicts

    verified = damaged = unfinished = 0
    troubles = Troubles()
    unreached: list[UnreachableError] = []

    def fails(error: OSError) -> None:
        if isinstance(error, UnreachableError):
            unreached.append(error)
        else:
            troubles.tell(error)

    for given in paths:
        try:
            for verdict in verdicts(files_below(given, fails, **access), fails, executor):
                _tell(verdict, troubles, as_json=as_json)
                verified += 1
                damaged += verdict.damaged
                unfinished += verdict.unfinished
        except BrokenPipeError:
            raise
        except OSError as error:  # go on with the other paths
            fails(error)
    if unreached:
        others = f"; {len(unreached) - 1} more not read" if len(unreached) > 1 else ""
        troubles.tell(f"{error_text(unreached[0])}{others}")
    if verified > 1 and not as_json:
        print(f"{verified} files, {damaged or 'none'} of them damaged")
    if unfinished and not as_json:
        print(f"unfinished: {counted(unfinished, 'file')}, still being written or left by a killed process; no damage")
    return troubles.status


def _tell(verdict: Verdict, troubles: Troubles, *, as_json: bool) -> None:
    """Print a verdict, and remember it for the exit status."""
    troubles.count(*verdict.faults)
    if not verdict.is_event_file:
        troubles.status = UNREAD
    if as_json:
        known = {"damaged": verdict.damaged, "is_event_file": verdict.is_event_file}
        print(json.dumps({**asdict(verdict), **known}))
        return
    print(f"{printable(verdict.path)}: {counted(verdict.events, 'event')}, {counted(len(verdict.faults), 'fault')}")
    for fault in verdict.faults:
        print(f"  {printable(str(fault))}")
