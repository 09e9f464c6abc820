"""`gradledger verify`: check every byte of event files."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from summaries.cli.arguments.candidates import complete_runs
from summaries.cli.arguments.options import access_options, executor_option, new_command
from summaries.cli.views.faults import UNREAD, Troubles, error_text
from summaries.presenting.terminal import printable
from summaries.storage.logdir import files_below
from summaries.storage.protocols import UnreachableError
from summaries.words import counted

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from summaries.storage.files import Access
    from summaries.tools.verifying import Verdict


@new_command(
    section="Mend",
    summary="Check every byte of event files.",
    help="Check every byte of event files: those that PATHS name, and all below directories.",
    examples=[
        "gradledger verify runs",
        "gradledger verify s3://bucket/runs",
        "gradledger verify --json runs | jq .path",
        "gradledger verify s3://bucket/runs --dask tcp://scheduler:8786",
    ],
    status="0 if no file is damaged, 1 if one is, 2 if one cannot be read or is no event file.",
)
@click.argument("paths", nargs=-1, required=True, shell_complete=complete_runs)
@click.option("--json", "as_json", is_flag=True, help="Write a line of JSON for each file, for programs.")
@executor_option
@access_options
def command(paths: tuple[str, ...], as_json: bool, executor: Executor | None, access: Access) -> int:
    """Verify each file, and print what was found, with a sum at the end if there are several."""
    from summaries.tools.verifying import verdicts

    counts = Counter[str]()
    troubles = Troubles()
    unreached: list[UnreachableError] = []

    def fails(error: OSError) -> None:
        if isinstance(error, UnreachableError):
            unreached.append(error)
        else:
            troubles.tell(error)

    for path in paths:
        try:
            for verdict in verdicts(files_below(path, fails, **access), fails, executor):
                _tell(verdict, troubles, as_json=as_json)
                counts.update(verified=1, damaged=int(verdict.damaged), unfinished=int(verdict.unfinished))
        except BrokenPipeError:
            raise
        except OSError as error:  # go on with the other paths
            fails(error)
    if unreached:
        others = f"; {len(unreached) - 1} more not read" if len(unreached) > 1 else ""
        troubles.tell(f"{error_text(unreached[0])}{others}")
    if counts["verified"] > 1 and not as_json:
        print(f"{counts['verified']} files, {counts['damaged'] or 'none'} of them damaged")
    if counts["unfinished"] and not as_json:
        files = counted(counts["unfinished"], "file")
        print(f"unfinished: {files}, still being written or left by a killed process; no damage")
    return troubles.status


def _tell(verdict: Verdict, troubles: Troubles, *, as_json: bool) -> None:
    """Print a verdict, and remember it for the exit status."""
    troubles.count(*verdict.faults)
    if not verdict.is_event_file:
        troubles.status = UNREAD
    if as_json:
        properties = {"damaged": verdict.damaged, "is_event_file": verdict.is_event_file}
        print(json.dumps({**asdict(verdict), **properties}))
        return
    print(f"{printable(verdict.path)}: {counted(verdict.events, 'event')}, {counted(len(verdict.faults), 'fault')}")
    for fault in verdict.faults:
        print(f"  {printable(str(fault))}")
