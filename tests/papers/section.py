"""A section of the page: what a paper says beside what we get, and a figure."""

from dataclasses import dataclass, field

import numpy as np

__all__ = ["Curve", "Figure", "Section"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 640, 260, 64, 40, 24
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")
_MOST_POINTS = 300


@dataclass
class Curve:
    """A line of a figure."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass
class Figure:
    """Curves over x, both axes linear or logarithmic; an SVG of a few kilobytes, the same at each run."""

    name: str
    x: str
    y: str
    curves: list
    log_x: bool = False
    log_y: bool = False

    def svg(self):
        """The file's text."""
        scaled = [(c.name, _scaled(c.x, self.log_x), _scaled(c.y, self.log_y)) for c in self.curves]
        left, right = _extent([x for _, x, _ in scaled])
        low, high = _extent([y for _, _, y in scaled])
        lines = [_frame(self, (left, right), (low, high))]
        for k, (name, x, y) in enumerate(scaled):
            chosen = np.unique(np.linspace(0, len(x) - 1, min(len(x), _MOST_POINTS)).astype(int))
            across = _LEFT + (x[chosen] - left) / (right - left) * (_WIDTH - _LEFT - 12)
            down = _HEIGHT - _BOTTOM - (y[chosen] - low) / (high - low) * (_HEIGHT - _BOTTOM - _TOP)
            points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True) if np.isfinite(b))
            colour = _COLOURS[k % len(_COLOURS)]
            lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>')
            lines.append(f'<text x="{_LEFT + 8 + 140 * k}" y="14" fill="{colour}">{name}</text>')
        return "\n".join([*lines, "</svg>", ""])


def _scaled(values, logarithmic):
    with np.errstate(divide="ignore"):
        return np.log10(values) if logarithmic else np.asarray(values, float)


def _extent(arrays):
    joined = np.concatenate([array[np.isfinite(array)] for array in arrays])
    low, high = float(joined.min()), float(joined.max())
    return (low, high) if high > low else (low - 1, high + 1)


def _frame(figure, across, down):
    def text(x, y, words, anchor):
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#777">{words}</text>'

    def shown(value, logarithmic):
        return f"1e{value:.0f}" if logarithmic else f"{value:.4g}"

    bottom = _HEIGHT - _BOTTOM
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-size="12">',
            f'<path d="M{_LEFT} {_TOP}V{bottom}H{_WIDTH - 12}" fill="none" stroke="#777"/>',
            text(_LEFT, bottom + 16, shown(across[0], figure.log_x), "middle"),
            text(_WIDTH - 12, bottom + 16, shown(across[1], figure.log_x), "end"),
            text((_LEFT + _WIDTH) // 2, bottom + 32, figure.x, "middle"),
            text(_LEFT - 6, bottom, shown(down[0], figure.log_y), "end"),
            text(_LEFT - 6, _TOP + 10, shown(down[1], figure.log_y), "end"),
            text(_LEFT - 6, (_TOP + bottom) // 2, figure.y, "end"),
        ]
    )


@dataclass
class Section:
    """A paper's section of the page.

    Attributes:
        title: the heading.
        text: what was run, and which settings are ours.
        rows: (what, the paper's number, ours, whether ours is as it should be).
        figures: the figures.
        columns: what the numbers of a row are.
        more: another table, or text, below the rows.
    """

    title: str
    text: str
    rows: list
    figures: list = field(default_factory=list)
    columns: tuple = ("paper", "here")
    more: str = ""

    @property
    def holds(self):
        """Whether every number is as it should be."""
        return all(row[3] for row in self.rows)

    def markdown(self):
        """The section's text."""
        table = [f"| | {' | '.join(self.columns)} |", "|---|--:|--:|"]
        table += [
            f"| {what} | {theirs} | {ours}{'' if right else ' (not reproduced)'} |"
            for what, theirs, ours, right in self.rows
        ]
        pictures = [
            f"![{figure.y} over {figure.x}: {', '.join(c.name for c in figure.curves)}](papers/{figure.name}.svg)"
            for figure in self.figures
        ]
        return "\n\n".join(
            [f"## {self.title}", self.text.strip(), "\n".join(table), *filter(None, [self.more]), *pictures]
        )
