"""Options that several commands share, as decorators of their functions."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from summaries.cli.arguments.candidates import complete_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from summaries.storage.files import Access

__all__ = [
    "Decorator",
    "ProgramCommand",
    "access_options",
    "executor_option",
    "jobs_option",
    "json_option",
    "new_command",
    "output_option",
    "runs_option",
    "storage_options",
    "tags_option",
    "tags_option_with",
]

Command = TypeVar("Command", bound="Callable[..., Any]")


class Decorator(Protocol):
    """What adds an option to the function of a command."""

    def __call__(self, function: Command, /) -> Command:
        """The same function, with the option."""


def tags_option_with(text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """The option `--tags` with another explanation; the function gets patterns, or None if none was given."""
    return click.option(
        "--tags",
        metavar="PATTERN",
        multiple=True,
        required=required,
        callback=_patterns,
        shell_complete=complete_tags,
        help=text,
    )


def _patterns(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
    return value or None


tags_option: Decorator = tags_option_with("Only tags that match, such as 'loss*'; may be repeated.")
runs_option: Decorator = click.option(
    "--runs", metavar="PATTERN", multiple=True, callback=_patterns, help="Only runs whose names match; may be repeated."
)
json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Write JSON, for programs.")


def output_option_with(text: str) -> Decorator:
    """The option that says where to write, with its help."""
    return click.option("-o", "--output", type=click.Path(), metavar="FILE", help=text)


output_option: Decorator = output_option_with("Where to write it; - is standard output, which is the default.")
jobs_option: Decorator = click.option(
    "--jobs", type=int, metavar="N", help="Number of processes (default: one per core, if there is enough to do)."
)


class ProgramCommand(click.Command):
    """A command of the program.

    Args:
        *arguments: as a click command takes them.
        section: of the program's help, in which the command is listed.
        **options: likewise.
    """

    def __init__(self, *arguments: Any, section: str, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.section = section


def new_command(
    *,
    section: str,
    summary: str,
    help: str,  # noqa: A002 - as click calls it
    examples: Sequence[str],
    status: str = "",
) -> Callable[[Callable[..., int]], ProgramCommand]:
    """Make a command of a function.

    Args:
        section: of the program's help, in which the command is listed.
        summary: what the program's help says of it, in one line.
        help: what its own help says.
        examples: command lines.
        status: what its exit status means; "" says nothing.
    """
    shown = "\n".join(("\b", "Examples:", *(f"  {line}" for line in examples)))
    epilog = f"Exit status: {status}\n\n{shown}" if status else shown
    return click.command(cls=ProgramCommand, section=section, short_help=summary, help=help, epilog=epilog)


def _storage_options(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, object]:
    """Each KEY=VALUE, whose value is JSON, or any other text. No message contains the value: it may be a credential."""
    options: dict[str, object] = {}
    for pair in value:
        key, separator, text = pair.partition("=")
        if not key or not separator:
            raise click.BadParameter("must be KEY=VALUE", ctx, param)
        try:
            options[key] = json.loads(text)
        except ValueError as error:
            if text.lstrip().startswith(("{", "[")):
                message = f"the value of {key} begins like JSON, but is not JSON: {error}"
                raise click.BadParameter(message, ctx, param) from None
            options[key] = text
    return options


def storage_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the option for addresses that are hardly read; the function gets it as its argument `access`."""

    @click.option(
        "--storage-option",
        "storage_options",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_storage_options,
        help="For an address such as s3://…, an option of its file system, as JSON or text; may be repeated.",
    )
    @functools.wraps(function)
    def with_storage(*, storage_options: Mapping[str, object], **options: Any) -> int:
        access: Access = {"storage_options": storage_options}
        return function(access=access, **options)

    return with_storage


def access_options(function: Callable[..., int]) -> Callable[..., int]:
    """Add the options for addresses; the function gets them as its argument `access`."""

    @storage_options
    @click.option(
        "--cache", is_flag=True, help="Keep the files of an address on the disk, and next time fetch only what is new."
    )
    @click.option("--cache-dir", type=click.Path(), metavar="DIR", help="The same, in this directory.")
    @functools.wraps(function)
    def with_access(*, access: Access, cache: bool, cache_dir: str | None, **options: Any) -> int:
        return function(access={**access, "cache": cache_dir or cache}, **options)

    return with_access


def executor_option(function: Callable[..., int]) -> Callable[..., int]:
    """Add `--dask`; the function gets an executor, or None, as its argument `executor`."""

    @click.option(
        "--dask",
        metavar="ADDRESS",
        help="Work on a Dask cluster: the address of its scheduler; or local, for a process per core; or a .yaml file "
        "that describes a cluster.",
    )
    @functools.wraps(function)
    def with_executor(*, dask: str | None, **options: Any) -> int:
        if dask is None:
            return function(executor=None, **options)
        from summaries.execution.dask import on_dask

        with on_dask(dask) as executor:
            return function(executor=executor, **options)

    return with_executor
