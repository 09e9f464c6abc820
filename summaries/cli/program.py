"""The program `gradledger`: its commands, and how errors become messages and an exit status."""

from __future__ import annotations

import os
import sys
import traceback
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, shell_complete

from summaries.cli import commands
from summaries.cli.commands.completion import COMPLETE
from summaries.cli.views.faults import error_text
from summaries.presenting.terminal import escape_what_cannot_be_encoded, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.cli.arguments.options import ProgramCommand

__all__ = ["SECTIONS", "command_names", "commands_by_section", "main"]

SECTIONS = ("Look", "Audit", "Mend", "Reshape", "Other")
"""The sections of the help, in order."""


def command_names() -> list[str]:
    """Every command: the modules of `summaries.cli.commands`."""
    return list(_names())


@cache
def _names() -> tuple[str, ...]:
    """They are asked for several times for each command line, and lie in a directory."""
    return tuple(module.name.replace("_", "-") for module in iter_modules(commands.__path__))


def commands_by_section() -> dict[str, dict[str, str]]:
    """Section → name → what the command does, for every command, as its module says it."""
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for name in command_names():
        command = _command(name)
        sections[command.section][name] = command.short_help or ""
    return sections


def _command(name: str) -> ProgramCommand:
    command: ProgramCommand = import_module(f"{commands.__name__}.{name.replace('-', '_')}").command
    return command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: the arguments, without the name of the program; None takes `sys.argv`.

    Returns:
        The exit status: 0 if all is well, 1 if damage, a difference or a failing finding was found, 2 if the command
        failed, 130 if it was interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the program that started us; print() would take the other one
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for as long as we run
    escape_what_cannot_be_encoded(sys.stdout)
    if COMPLETE in os.environ:
        from summaries.cli.arguments import shells  # noqa: F401 - it puts right what click does

        return shell_complete(program, {}, "gradledger", COMPLETE, os.environ[COMPLETE])
    try:
        with program.make_context("gradledger", arguments) as context:
            status: int = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:  # after --help and --version
        return exit_.exit_code
    except click.ClickException as error:
        _show(error)
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


def _show(error: click.ClickException) -> None:
    """Print a mistake in the arguments, which click would show as they are."""
    if not isinstance(error, _HELP):
        vars(error)["message"] = printable(error.message)
    error.show()


_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())  # the help, of many lines; click 8.1 has no such error


class _Program(click.Group):
    """The group of all commands, each imported when it is called, completed, or listed in the help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return command_names()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return _command(cmd_name) if cmd_name in command_names() else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = get_close_matches(args[0], command_names(), n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, summaries in commands_by_section().items():
            with formatter.section(section):
                formatter.write_dl(list(summaries.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in command_names() if name.startswith(incomplete)]
        matching = [CompletionItem(name, help=_command(name).short_help) for name in names]
        return matching + click.Command.shell_complete(self, ctx, incomplete)


_program = _Program(
    name="gradledger",
    help="Log, see, read back and audit training runs in TensorBoard's event files.",
    epilog="Exit status: 0 if all is well, 1 if damage, a difference or a failing finding was found, 2 if the command "
    "failed, 130 if it was interrupted. A file that ends inside a record, as a killed process leaves it, is not "
    "damaged. `gradledger COMMAND --help` explains a command.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
    callback=lambda: None,
)
program: click.Group = click.version_option(package_name="gradledger", message="gradledger %(version)s")(_program)
