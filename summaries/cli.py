"""The command line: `gradledger`."""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from summaries.auditing import command as auditing
from summaries.auditing.report.text import printable
from summaries.auditing.signals.tags import TagTable
from summaries.reading.run import read_run
from summaries.storage.logdir import event_files
from summaries.tools import clip_advice, export, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from summaries.reading.run import Run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status: 0 all is well, 1 damage was found, 2 it could not be done."""
    parser = argparse.ArgumentParser(prog="gradledger", description="Look after TensorBoard's event files.")
    parser.add_argument("--version", action="version", version=f"gradledger {version('gradledger')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("verify", help="check every byte of event files")
    command.add_argument("paths", nargs="+", metavar="PATH", help="an event file, or a directory to search")
    command = commands.add_parser("export", help="write the scalars of runs as Parquet or CSV")
    command.add_argument("logdir", help="a directory of runs, or an event file")
    command.add_argument("target", help="a .parquet or .csv file; with --partitioned, a directory")
    command.add_argument("--partitioned", action="store_true", help="a Parquet dataset with a directory for each run")
    command = commands.add_parser("clip-advice", help="suggest a bound for gradient clipping, by recorded norms")
    command.add_argument("run", metavar="RUN", help="a run's directory, or an event file")
    command.add_argument("--tag", help="where the norms before clipping are; by default, what the audit takes for them")
    command.add_argument("--bound", type=float, action="append", help="judge this bound; may be given several times")
    command.add_argument("--last-step", type=int, help="judge by the steps up to this one: before a run diverged")
    command = commands.add_parser("audit", help="say what went wrong in training runs")
    auditing.add_audit(command)
    command = commands.add_parser("rule", help="print the page of an audit's rule")
    auditing.add_rule(command)
    options = parser.parse_args(argv)
    if sys.stdout is None:  # whoever started us has closed it
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name need not be Unicode text
    try:
        status = _run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # who read our output has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except (OSError, ImportError, LookupError, ValueError) as error:
        print(f"gradledger: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gradledger: interrupted", file=sys.stderr)
        return 130  # as a shell says that signal 2 ended a program
    except Exception:  # noqa: BLE001 - Python's own status for it is 1, which says that something was found
        traceback.print_exc()
        return 2
    return status


def _run(options: argparse.Namespace) -> int:
    if options.command == "audit":
        return auditing.audit(options, _progress)
    if options.command == "rule":
        return auditing.rule(options)
    if options.command == "export":
        return _export(options.logdir, options.target, partitioned=options.partitioned)
    if options.command == "clip-advice":
        return _advise(options.run, options.tag, options.bound or clip_advice.BOUNDS, options.last_step)
    return _verify(options.paths)


def _verify(paths: list[str]) -> int:
    damaged = failed = False
    for given in paths:
        try:
            for file in event_files([given]):
                verdict = verify(file.path)
                print(f"{file.path}: {_count(verdict.events, 'event')}, {_count(len(verdict.faults), 'fault')}")
                for fault in verdict.faults:
                    print(f"  {fault}")
                damaged |= verdict.damaged
        except BrokenPipeError:
            raise
        except OSError as error:  # the other paths are looked at all the same
            print(f"gradledger: {error}", file=sys.stderr)
            failed = True
    return 2 if failed else int(damaged)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _export(logdir: str, target: str, *, partitioned: bool) -> int:
    if partitioned:
        write = export.export_dataset
    elif target.endswith(".parquet"):
        write = export.export_parquet
    elif target.endswith(".csv"):
        write = export.export_csv
    else:
        raise ValueError(f"target must end in .parquet or .csv, got {target!r}")
    damaged = False

    def on_run(name: str, run: Run) -> None:
        nonlocal damaged
        damaged |= any(fault.kind.loses for fault in run.faults)
        for fault in run.faults:
            print(f"gradledger: {fault}", file=sys.stderr)
        advance(name)

    runs = export.RunsBelow(logdir)
    with _progress(len(runs)) as advance:
        points = write(runs, target, on_run)
    print(f"{target}: {points} points")
    return 1 if damaged else 0


def _advise(path: str, tag: str | None, bounds: Iterable[float], last_step: int | None) -> int:
    run = read_run(path)
    if tag is None:
        norms = [name for name in run.scalars if TagTable().meaning(name).role == "global_norm"]
        tag = clip_advice.NORM_TAG if clip_advice.NORM_TAG in norms or not norms else norms[0]
    for fault in run.faults:
        print(f"gradledger: {fault}", file=sys.stderr)
    print(clip_advice.clip_advice(run, tag, bounds, last_step))
    return 1 if any(fault.kind.loses for fault in run.faults) else 0


@contextmanager
def _progress(total: int) -> Iterator[Callable[[str], object]]:
    """A progress bar over `total` runs, on a terminal that has rich; gives what to call after each run."""
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415 - an extra
    except ImportError:
        yield len  # anything that takes a name
        return
    console = Console(stderr=True)
    columns = BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda name: progress.update(task, advance=1, description=printable(name))
