"""The command line, `gradledger`: parse the options, run a command, turn errors into messages and an exit status."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import traceback
from importlib.metadata import version
from typing import TYPE_CHECKING

from summaries.auditing import command as auditing
from summaries.auditing import comparing
from summaries.auditing.report.progress import progress_bar
from summaries.auditing.report.text import printable
from summaries.auditing.signals.tags import TagTable
from summaries.reading.run import read_run
from summaries.storage.cache import cache_directory, clear_cache
from summaries.storage.credentials import without_credentials
from summaries.storage.logdir import event_files
from summaries.storage.protocols import UnreachableError
from summaries.tools import clip_advice, export, verify_file
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Literal

    from summaries.reading.run import Run
    from summaries.storage.files import Access
    from summaries.storage.protocols import StoredFile
    from summaries.tools import Verdict

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments, without the name of the program; None takes `sys.argv`.

    Returns:
        The exit status: 0 if all is well, 1 if damage or a failing finding was found, 2 if the command failed, 130 if
        it was interrupted.
    """
    parser = argparse.ArgumentParser(prog="gradledger", description="Check, export and audit TensorBoard event files.")
    parser.add_argument("--version", action="version", version=f"gradledger {version('gradledger')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    command = commands.add_parser("verify", help="check every byte of event files")
    _add_options(command)
    command.add_argument("paths", nargs="+", metavar="PATH", help="an event file, or a directory to search")
    command = commands.add_parser("export", help="export the scalars of runs to Parquet or CSV")
    _add_options(command)
    command.add_argument("logdir", help="a directory of runs, or an event file")
    command.add_argument("target", help="a .parquet or .csv file; with --partitioned, a directory")
    command.add_argument("--partitioned", action="store_true", help="a Parquet dataset with a directory for each run")
    command = commands.add_parser("clip-advice", help="suggest a bound for gradient clipping from recorded norms")
    _add_options(command)
    command.add_argument("run", metavar="RUN", help="a run's directory, or an event file")
    command.add_argument("--tag", help="the tag of the norms before clipping (default: the tag that the audit uses)")
    command.add_argument("--bound", type=float, action="append", help="evaluate this bound; may be given several times")
    command.add_argument(
        "--last-step", type=int, help="use only the steps up to this one, for example before a run diverged"
    )
    command = commands.add_parser("audit", help="find out what went wrong in training runs")
    auditing.add_audit(command)
    _add_options(command)
    command = commands.add_parser("compare", help="put runs beside each other: groups, outliers, what separates them")
    comparing.add_compare(command)
    _add_options(command)
    command = commands.add_parser("rule", help="explain a rule of the audit")
    auditing.add_rule(command)
    command = commands.add_parser("clear-cache", help="remove what --cache keeps of remote runs")
    command.add_argument("directory", nargs="?", default=True, metavar="DIR", help="where it is kept")
    options = parser.parse_args(argv)
    if sys.stdout is None:  # closed by the program that started us
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # the name of a file may contain bytes that are not Unicode text
    try:
        status = _run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except (OSError, ImportError, LookupError, ValueError) as error:
        print(f"gradledger: {printable(str(error))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gradledger: interrupted", file=sys.stderr)
        return 130  # the status that a shell gives a program ended by signal 2
    except Exception:  # noqa: BLE001 - Python would exit with 1, which here means that something was found
        traceback.print_exc()
        return 2
    return status


def _add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for addresses to a command."""
    parser.add_argument(
        "--storage-option",
        type=_storage_option,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="for an address such as s3://…, an option of its file system, as JSON or text; may be given several times",
    )
    parser.add_argument(
        "--cache",
        action="store_true",
        help="keep the files of an address on the disk, and next time fetch only what is new",
    )
    parser.add_argument("--cache-dir", dest="cache", metavar="DIR", help="the same, in this directory")


def _storage_option(text: str) -> tuple[str, object]:
    """Split KEY=VALUE; the value is JSON, or any other text.

    Raises:
        ArgumentTypeError: there is no key, or the value only begins like JSON. The message leaves out the value, which
            may be a credential.

    >>> _storage_option('client_kwargs={"region_name": "eu"}'), _storage_option("key=AKID")
    (('client_kwargs', {'region_name': 'eu'}), ('key', 'AKID'))
    """
    key, separator, value = text.partition("=")
    if not key or not separator:
        raise argparse.ArgumentTypeError("must be KEY=VALUE")
    try:
        return key, json.loads(value)
    except ValueError as error:
        if value.lstrip().startswith(("{", "[")):
            raise argparse.ArgumentTypeError(f"the value of {key} begins like JSON, but is not JSON: {error}") from None
        return key, value


def _run(options: argparse.Namespace) -> int:
    if options.command == "audit":
        return auditing.audit(options)
    if options.command == "compare":
        return comparing.compare(options)
    if options.command == "rule":
        return auditing.rule(options)
    if options.command == "clear-cache":
        return _clear_cache(options.directory)
    access = auditing.access(options)
    if options.command == "export":
        return _export(options.logdir, options.target, access, partitioned=options.partitioned)
    if options.command == "clip-advice":
        run = read_run(options.run, **access)
        return _advise(run, options.tag, options.bound or clip_advice.BOUNDS, options.last_step)
    return _verify(options.paths, access)


def _clear_cache(directory: str | Literal[True]) -> int:
    directory = cache_directory(directory)
    count, size = clear_cache(directory)
    print(f"{directory}: {counted(count, 'file')} removed, {size:,} bytes")
    return 0


def _verify(paths: list[str], access: Access) -> int:
    damaged = failed = False
    unreached: list[UnreachableError] = []

    def fails(error: OSError) -> None:
        nonlocal failed
        failed = True
        if isinstance(error, UnreachableError):
            unreached.append(error)
        else:
            print(f"gradledger: {error}", file=sys.stderr)

    for given in paths:
        try:
            for file in event_files([given], **access):
                verdict = _verdict(file, fails)
                damaged |= verdict is not None and verdict.damaged
        except BrokenPipeError:
            raise
        except OSError as error:  # go on with the other paths
            fails(error)
    if unreached:
        others = f"; {len(unreached) - 1} more not read" if len(unreached) > 1 else ""
        print(f"gradledger: {unreached[0]}{others}", file=sys.stderr)
    return 2 if failed else int(damaged)


def _verdict(file: StoredFile, on_error: Callable[[OSError], object]) -> Verdict | None:
    """Verify one file, and print what was found."""
    try:
        verdict = verify_file(file)
    except OSError as error:  # go on with the other files
        on_error(error)
        return None
    print(f"{file.path}: {counted(verdict.events, 'event')}, {counted(len(verdict.faults), 'fault')}")
    for fault in verdict.faults:
        print(f"  {fault}")
    return verdict


def _export(logdir: str, target: str, access: Access, *, partitioned: bool) -> int:
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
        damaged |= any(fault.kind.is_data_loss for fault in run.faults)
        for fault in run.faults:
            print(f"gradledger: {fault}", file=sys.stderr)
        on_progress(name, run)

    runs = export.RunsBelow(logdir, **access)
    with progress_bar(len(runs)) as on_progress:
        points = write(runs, target, on_run, **access)
    print(f"{without_credentials(target)}: {counted(points, 'point')}")
    return 1 if damaged else 0


def _advise(run: Run, tag: str | None, bounds: Iterable[float], last_step: int | None) -> int:
    if tag is None:
        norms = [name for name in run.scalars if TagTable().meaning(name).role == "global_norm"]
        tag = clip_advice.NORM_TAG if clip_advice.NORM_TAG in norms or not norms else norms[0]
    for fault in run.faults:
        print(f"gradledger: {fault}", file=sys.stderr)
    print(clip_advice.clip_advice(run, tag, bounds, last_step))
    return 1 if any(fault.kind.is_data_loss for fault in run.faults) else 0


if __name__ == "__main__":
    sys.exit(main())
