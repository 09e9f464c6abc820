"""Where a command writes its report: standard output, or the file that `--output` names."""

from __future__ import annotations

import io
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from summaries.storage.files import created, place_of
from summaries.storage.names import is_remote

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

__all__ = ["check_output", "output"]


def check_output(options: argparse.Namespace) -> None:
    """Fail now, and not after the work, if the report cannot be written.

    Args:
        options: `format`, `storage_option`, and `output`: the name of a file, an address or None.

    Raises:
        ValueError: a page for a browser would go to a terminal.
        OSError: the file cannot be written.
        ImportError: it is an address, and what writes there is not installed.
    """
    if options.output is not None and is_remote(options.output):
        place_of(options.output, storage_options=dict(options.storage_option))  # it is not written before the end
    elif options.output is not None:
        with open(options.output, "a", encoding="utf-8"):
            pass
    elif options.format == "html" and sys.stdout.isatty():
        raise ValueError("--format html writes a page for a browser, not for a terminal: add --output FILE")


@contextmanager
def output(options: argparse.Namespace) -> Iterator[TextIO]:
    """Open the file, or standard output, for the report; `options` as in `check_output`."""
    if options.output is not None:
        with (
            created(options.output, dict(options.storage_option)) as path,
            open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
        ):
            yield file
        return
    if options.format != "text" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the terminal uses: the reader is a program
    yield sys.stdout
