"""Our docstrings as reStructuredText: tables with pipes, indented programs, and stars and underscores in prose.

They are written for `help()` first, so they have little markup: sections as Google has them, which napoleon translates,
and backticks around what is code.
"""

from __future__ import annotations

import inspect
import re
from itertools import groupby
from typing import TYPE_CHECKING

from sphinx.ext.napoleon import GoogleDocstring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

__all__ = ["as_rst", "setup"]

_SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Warns|Yields):$")
_CODE = re.compile(r"(``.*?``|`[^`]*`)")
_RST = re.compile(r"``.*``|`[\w.]+(\(\))?`")
_ONE_WORD = re.compile(r"(?<!`)`(\w+)`(?!`)")
_MARKUP = re.compile(r"\*|(?<=\w)_(?!\w)")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _translate, priority=400)  # before napoleon, which has 500
    GoogleDocstring._consume_returns_section = _returns  # noqa: SLF001 - there is no option for it
    return {"parallel_read_safe": True}


def _translate(app: Sphinx, what: str, name: str, member: object, options: object, lines: list[str]) -> None:
    """Translate a docstring; an argument in backticks is no link, also if something public has its name."""
    try:
        arguments = inspect.signature(member).parameters if callable(member) else {}
    except ValueError:  # an extension's class
        arguments = {}
    lines[:] = [
        _ONE_WORD.sub(lambda found: f"`{found[0]}`" if found[1] in arguments else found[0], line)
        for line in as_rst(lines)
    ]


def _returns(self: GoogleDocstring, preprocess_types: bool = False) -> list[tuple[str, str, list[str]]]:
    """Our "Returns:" is a sentence; napoleon would take what stands before a colon in it for a type."""
    return [("", "", self._dedent(self._consume_to_next_section()))]


def as_rst(lines: list[str]) -> list[str]:
    r"""A docstring's lines, translated.

    >>> as_rst(["At 2 * x.", "", "    y = 2 * x"])
    ['At 2 \\* x.', '', '::', '', '    y = 2 * x']
    >>> as_rst(["| a | b |", "|---|---|", "| 1 | `2*x` |"])[3:]
    ['   * - a', '     - b', '   * - 1', '     - ``2*x``']
    """
    translated: list[str] = []
    in_section = False
    for is_blank, group in groupby(lines, key=lambda line: not line.strip()):
        block = list(group)
        in_section = in_section or any(_SECTION.match(line) for line in block)
        translated += block if is_blank else _block(block, translated, in_section=in_section)
    return translated


def _block(block: list[str], before: list[str], *, in_section: bool) -> Iterator[str]:
    """One paragraph, table or program."""
    follows_directive = any(line.startswith((".. ", "::")) for line in before[-3:])
    if block[0].startswith("|"):
        yield from _table(block)
    elif block[0].lstrip().startswith((">>>", ".. ")) or (block[0].startswith(" ") and follows_directive):
        yield from block
    elif block[0].startswith(" ") and not in_section:
        yield from ["::", "", *block]
    else:
        yield from (_prose(line) for line in block)


def _table(rows: list[str]) -> Iterator[str]:
    yield from [".. list-table::", "   :header-rows: 1", ""]
    for row in (rows[0], *rows[2:]):
        first, *others = (_prose(cell.strip()) for cell in row.strip("|").split(" | "))
        yield f"   * - {first}"
        yield from (f"     - {cell}" for cell in others)


def _prose(line: str) -> str:
    """Stars and trailing underscores are not markup in our docstrings, and only names in backticks are looked up."""
    parts = _CODE.split(line)
    parts[::2] = [_MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
    parts[1::2] = [part if _RST.fullmatch(part) else f"`{part}`" for part in parts[1::2]]
    return "".join(parts)
