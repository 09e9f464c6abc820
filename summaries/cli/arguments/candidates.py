"""What shells complete: paths of runs and files, and tags; found by reading little, and failing silently."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from summaries.storage.names import is_remote
from summaries.storage.nearby import head_of, nearby

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["complete_files", "complete_runs", "complete_tags"]

_MOST_PATHS = 500  # that are offered
_MOST_FILES = 16  # that are read for tags
_HEAD_BYTES = 1 << 20  # of each of them
_ALL_BYTES = 2 << 20  # of all of them


def complete_tags(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The tags that begin like this, in the first bytes of the runs that the command line has named so far."""
    with suppress(Exception):  # whatever is wrong with a file: nobody has asked to read it yet
        tags = sorted(tag for tag in dict.fromkeys(_tags(ctx)) if tag.isprintable())
        return [CompletionItem(tag) for tag in tags if tag.startswith(incomplete)]
    return []


def _complete_paths(
    ctx: click.Context, param: click.Parameter, incomplete: str, *, files: bool
) -> list[CompletionItem]:
    """The runs, or event files, whose paths begin like this; if there are none, what the shell knows."""
    if is_remote(incomplete):
        return []
    paths = islice((path for path in nearby(incomplete, files=files) if path.isprintable()), _MOST_PATHS)
    return [CompletionItem(path) for path in paths] or [CompletionItem(incomplete, type="file")]


complete_runs: partial[list[CompletionItem]] = partial(_complete_paths, files=False)
complete_files: partial[list[CompletionItem]] = partial(_complete_paths, files=True)


def _tags(ctx: click.Context) -> Iterator[str]:
    """The tags with values in the first bytes of some runs; a tag comes as often as it is there."""
    from summaries.errors import Fault
    from summaries.wire.events import decode_event
    from summaries.wire.records import RecordParser

    left = _ALL_BYTES
    for path in islice(_files(ctx), _MOST_FILES):
        head = head_of(path, min(_HEAD_BYTES, left))
        left -= len(head)
        parser = RecordParser()
        parser.feed(head)
        for batch in parser.items():
            for data in () if isinstance(batch, Fault) else batch.data:
                event, _ = decode_event(data)
                for value in event.summary.value if event is not None else ():
                    if value.WhichOneof("value") is not None:
                        yield value.tag
        if not left:
            return


def _files(ctx: click.Context) -> Iterator[str]:
    """The event files of what the command line has named so far."""
    arguments = [param.name for param in ctx.command.params if isinstance(param, click.Argument)]
    named = [ctx.params.get(name) for name in arguments if name is not None]
    paths = [path for value in named for path in ((value,) if isinstance(value, str) else value or ())]
    for path in [*paths, *ctx.args]:  # click leaves the arguments there if an option has no value yet
        if isinstance(path, str) and not is_remote(path):
            files = list(islice(nearby(f"{path.rstrip('/')}/", files=True), _MOST_FILES))
            yield from files or [path]
