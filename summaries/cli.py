"""The command line: `gradledger`."""

from __future__ import annotations

import argparse
import io
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from summaries.logdir import event_files
from summaries.tools import verify

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0 all is well, 1 damage was found, 2 it could not be done."""
    parser = argparse.ArgumentParser(prog="gradledger", description="Look after TensorBoard's event files.")
    parser.add_argument("--version", action="version", version=f"gradledger {version('gradledger')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("verify", help="check every byte of event files")
    command.add_argument("paths", nargs="+", metavar="PATH", help="an event file, or a directory to search")
    options = parser.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name need not be Unicode text
    try:
        return _verify(options.paths)
    except OSError as error:
        print(f"gradledger: {error}", file=sys.stderr)
        return 2


def _verify(paths: list[str]) -> int:
    damaged = False
    for path in event_files(paths):
        verdict = verify(path)
        print(f"{path}: {verdict.events} events, {len(verdict.faults)} faults")
        for fault in verdict.faults:
            print(f"  {fault}")
        damaged |= verdict.damaged
    return 1 if damaged else 0
