"""HTML for notebooks: short tables with sparklines. A name out of an event file is text in it, never markup.

It takes its colors from the notebook, light or dark, but for a few that can be read on both.
"""

from __future__ import annotations

import math
from html import escape
from numbers import Integral, Real
from typing import TYPE_CHECKING, SupportsFloat

from summaries.presenting.sparklines import HEIGHT, WIDTH, svg_paths
from summaries.presenting.terminal import printable
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Markup", "amount", "bar", "block", "colored", "line", "number", "short", "sparkline", "table"]

# The doubled class outweighs JupyterLab's own rule for tables.
_STYLE = """<style>
.gradledger{font-variant-numeric:tabular-nums;line-height:1.45}
.gradledger table{border-collapse:collapse;width:auto;margin:.3em 0 .5em}
.gradledger.gradledger table :is(th,td){text-align:left;vertical-align:middle;padding:.2em .9em;white-space:nowrap}
.gradledger.gradledger table :is(th,td).n{text-align:right}
.gradledger.gradledger table td.w{white-space:normal;min-width:24em;max-width:60em;overflow-wrap:break-word}
.gradledger p{margin:.3em 0}
.gradledger .note{opacity:.7}
.gradledger svg{display:block;fill:none;stroke:#3d85c6;stroke-width:1.4;stroke-linecap:round;stroke-linejoin:round}
.gradledger .bar{fill:#3d85c6;stroke:none}
.gradledger .odd{stroke:#d6409f}
.gradledger .error{color:#d6453a}.gradledger .warning{color:#b27a00}.gradledger .info{color:#3d85c6}
</style>"""
_MOST = 80  # characters of a name
_WIDE = 80  # characters: longer text is broken into lines


class Markup(str):
    """HTML that was made here. Any other string is text, and is escaped."""

    __slots__ = ()


def block(*parts: Markup) -> str:
    """What `_repr_html_` returns: the parts, one below the other."""
    return f'{_STYLE}<div class="gradledger">{"".join(parts)}</div>'


def line(text: str, *, note: bool = False) -> Markup:
    """A line of text; as a note, it is fainter."""
    return Markup(f"<p{' class=note' if note else ''}>{_html(text)}</p>")


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], more: str = "") -> Markup:
    """A table; numbers are formatted, and set to the right.

    Args:
        titles: those of the columns.
        rows: cells: text, Markup, whole numbers, floats, or None for an empty one.
        more: a line below it, such as how many rows were left out.

    >>> table(["tag", "points"], [["<loss>", 1500]])
    '<table><thead><tr><th>tag</th><th class=n>points</th></tr></thead><tbody><tr><td>&lt;loss&gt;</td><td
     class=n>1,500</td></tr></tbody></table>'
    """
    rows = [list(row) for row in rows]
    numeric = [any(isinstance(row[at], Real) for row in rows) for at in range(len(titles))]
    head = _row("th", titles, numeric)
    body = "".join(_row("td", row, numeric) for row in rows)
    below = line(more, note=True) if more else ""
    return Markup(f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{below}")


def sparkline(value: NDArray[np.float64]) -> Markup:
    """A series as a line; ticks at the top mark values that are not finite."""
    path, odd = svg_paths(value)
    ticks = f'<path class="odd" d="{odd}"/>' if odd else ""
    box = f'width="{WIDTH + 4}" height="{HEIGHT + 6}" viewBox="-2 -3 {WIDTH + 4} {HEIGHT + 6}"'
    return Markup(f'<svg {box} aria-hidden="true"><path d="{path}"/>{ticks}</svg>')


def bar(share: float) -> Markup:
    """A bar whose length is this share of the longest one, from 0 to 1; empty if the share is not finite."""
    length = WIDTH * min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0
    box = f'width="{WIDTH}" height="8" viewBox="0 0 {WIDTH} 8"'
    return Markup(f'<svg {box} aria-hidden="true"><rect class="bar" width="{length:.1f}" height="8"/></svg>')


def colored(text: str, kind: str) -> Markup:
    """Text in the color of an error, a warning or an info."""
    return Markup(f'<span class="{escape(kind)}">{_html(text)}</span>')


def number(value: SupportsFloat) -> str:
    """A number as it is read: whole ones with separators of thousands, others with four digits.

    >>> number(1500), number(0.031234), number(1.0), number(float("nan"))
    ('1,500', '0.03123', '1', 'nan')
    """
    return f"{int(value):,}" if isinstance(value, Integral) else f"{float(value):.4g}"


def amount(number: int, noun: str) -> str:
    """A number and its noun, as `counted`, with separators of thousands.

    >>> amount(1500, "run"), amount(1, "run")
    ('1,500 runs', '1 run')
    """
    return counted(number, noun).replace(str(number), f"{number:,}", 1)


def short(text: str, most: int = _MOST) -> str:
    r"""A name without control characters and without its middle, if it is longer than `most` characters.

    >>> short("a\nb"), short("layers/0/attention/weight", 15)
    ('a\\nb', 'layers/…/weight')
    """
    text = printable(text[: 4 * most] + text[-4 * most :] if len(text) > 8 * most else text)
    ends = most - 1
    return text if len(text) <= most else f"{text[: ends - ends // 2]}…{text[len(text) - ends // 2 :]}"


def _row(element: str, cells: Sequence[object], numeric: Sequence[bool]) -> str:
    return f"<tr>{''.join(_cell(element, cell, right) for cell, right in zip(cells, numeric, strict=True))}</tr>"


def _cell(element: str, content: object, right: bool) -> str:
    wraps = isinstance(content, str) and not isinstance(content, Markup) and len(content) > _WIDE
    mark = " class=n" if right else " class=w" if wraps else ""
    return f"<{element}{mark}>{_html(content)}</{element}>"


def _html(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Markup):
        return cell
    return number(cell) if isinstance(cell, Real) and not isinstance(cell, bool) else escape(printable(str(cell)))
