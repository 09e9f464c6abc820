"""The program `gradledger`: its commands, and how errors become messages and an exit status."""

from __future__ import annotations

import io
import os
import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, shell_complete

from summaries.cli.commands.completion import COMPLETE
from summaries.cli.views.faults import error_text

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "main"]

# Every command: section → name → what it does. `summaries.cli` has a module for each, imported when it is called.
COMMANDS = {
    "Look": {
        "ls": "List runs: files, tags, steps, time span, size, damage.",
        "show": "Show statistics and curves of runs.",
        "diff": "Compare two runs: where they part, and by how much.",
        "tail": "Print the last points of runs, and new ones as they come.",
        "dump": "Print the events of a file, and its faults.",
    },
    "Audit": {
        "audit": "Find out what went wrong in training runs.",
        "compare": "Compare the runs of a sweep, and find what separates them.",
        "rule": "Explain a rule of the audit.",
        "clip-advice": "Suggest a bound for gradient clipping from recorded norms.",
    },
    "Mend": {
        "verify": "Check every byte of event files.",
        "repair": "Write whole event files from damaged ones.",
    },
    "Reshape": {
        "merge": "Make one run out of several that were resumed or split.",
        "rename": "Give tags and runs new names.",
        "drop": "Write runs without some of their tags.",
        "keep": "Write runs with only some of their tags.",
        "thin": "Write runs with fewer points of their scalars.",
        "shift": "Move the steps or times of runs.",
        "label": "Label runs as good or bad.",
        "note": "Add a note about a step of a run.",
        "export": "Export the scalars of runs to Parquet or CSV.",
        "reduce": "Compute the mean and spread of runs, such as over seeds.",
        "convert": "Convert to and from CSV, Parquet, JSON lines, MLflow; and from W&B.",
    },
    "Other": {
        "demo": "Train a small network with and without gradient clipping.",
        "completion": "Print a shell script that completes commands, runs and tags.",
        "clear-cache": "Remove what --cache keeps of remote runs.",
    },
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments, without the name of the program; None takes `sys.argv`.

    Returns:
        The exit status: 0 if all is well, 1 if damage, a difference or a failing finding was found, 2 if the command
        failed, 130 if it was interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if sys.stdout is None:  # closed by the program that started us
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # the name of a file may contain bytes that are not Unicode text
    if COMPLETE in os.environ:
        from summaries.cli.arguments import shells  # noqa: F401 - it puts right what click does

        return shell_complete(program, {}, "gradledger", COMPLETE, os.environ[COMPLETE])
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:  # after --help and --version
        return exit_.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    except (OSError, ImportError, LookupError, ValueError) as error:
        print(f"gradledger: {error_text(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("gradledger: interrupted", file=sys.stderr)
        return 130  # the status that a shell gives a program ended by signal 2
    except Exception:  # noqa: BLE001 - Python would exit with 1, which here means that something was found
        traceback.print_exc()
        return 2
    return status


def _run(arguments: list[str]) -> int:
    with program.make_context("gradledger", arguments) as context:
        status: int = program.invoke(context)
        return status


class _Program(click.Group):
    """The group of all commands, each imported when it is called and not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(chain.from_iterable(COMMANDS.values()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"summaries.cli.commands.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, commands in COMMANDS.items():
            with formatter.section(section):
                formatter.write_dl(list(commands.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = chain.from_iterable(section.items() for section in COMMANDS.values())
        matching = [CompletionItem(name, help=text) for name, text in commands if name.startswith(incomplete)]
        return matching + click.Command.shell_complete(self, ctx, incomplete)


program = _Program(
    name="gradledger",
    help="Log, see, read back and audit training runs in TensorBoard's event files.",
    epilog="Exit status: 0 if all is well, 1 if damage, a difference or a failing finding was found, 2 if the command "
    "failed, 130 if it was interrupted. A file that ends inside a record, as a killed process leaves it, is not "
    "damaged. `gradledger COMMAND --help` explains a command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    callback=lambda: None,
)
program = click.version_option(package_name="gradledger", message="gradledger %(version)s")(program)
