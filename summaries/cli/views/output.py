"""Where a command writes its report: standard output, or the file that `--output` names."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from summaries.storage.files import Access

__all__ = ["FORMATS", "format_of", "opened"]

FORMATS = ("text", "json", "github", "sarif", "html")
"""Of reports of an audit."""

_ENDINGS = {".html": "html", ".json": "json", ".sarif": "sarif"}


def format_of(given: str | None, path: str | None, formats: Collection[str]) -> str:
    """The format of a report: the one that was given, else the one that the file's ending names, else text.

    >>> format_of(None, "audit.html", ["text", "html"]), format_of("text", "audit.html", ["text", "html"])
    ('html', 'text')
    """
    named = _ENDINGS.get(os.path.splitext(path or "")[1].lower())
    return given or (named if named in formats else None) or "text"


@contextmanager
def opened(path: str | None, format_: str, access: Access) -> Iterator[TextIO]:
    """Open the file, or standard output, for a report. The block does the work too, so that mistakes are told before.

    Args:
        path: the file, or an address; None or "-" for standard output. It is replaced when the block has succeeded.
        format_: of the report. All but "text" are written in UTF-8, whatever the terminal uses.
        access: how the address is accessed.

    Raises:
        ValueError: a page for a browser would go to a terminal.
        OSError: the file cannot be written.
        ImportError: it is an address, and what writes there is not installed.
    """
    if path is not None and path != "-":
        from summaries.storage.files import created

        with (
            created(path, access.get("storage_options")) as local,
            open(local, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
        ):
            yield file
        return
    if format_ == "html" and path is None and sys.stdout.isatty():
        raise ValueError("--format html writes a page for a browser, not for a terminal: add --output FILE")
    if format_ != "text" and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    yield sys.stdout
