"""Writes README's table of ratios from what `make bench` measured: `python -m benchmarks.readme_table [FILE]`.

A row is a job that a figure was measured for, a column one of the libraries that people come from.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from benchmarks.machine import in_words

ROOT = Path(__file__).parents[2]
BEGIN, END = "<!-- benchmarks -->", "<!-- end of benchmarks -->"
NONE, TIMES = "–", "×"  # noqa: RUF001 - as they are printed
COLUMNS = {"torch": "torch's writer", "tensorboardX": "tensorboardX", "tbparse": "tbparse", "wandb": "W&B, offline"}


def rendered(results: dict[str, Any]) -> str:
    """The table as Markdown, and a line that says where it is from.

    Args:
        results: as `python -m benchmarks --json` writes them.

    Raises:
        ValueError: they are of a quick run, or a library of the table was not measured.
    """
    if results["quick"]:
        raise ValueError("README's table is of the whole benchmark, got a quick one: run `make bench`")
    rows = [figure for figure in results["figures"] if figure["job"]]
    rows.sort(key=lambda figure: not figure["job"].startswith("log"))  # in the order in which people do it
    for figure in rows:
        for name in COLUMNS.keys() & figure["left_out"]:
            raise ValueError(f"{figure['what']}: {name} was not measured: {figure['left_out'][name]}")
    lines = [f"| | gradledger | {' | '.join(COLUMNS.values())} |", "|---|" + "--:|" * (1 + len(COLUMNS))]
    for figure in rows:
        cells = [
            f"{_short(figure['ours'])} {figure['unit']}",
            *(_times(figure["ratios"].get(name)) for name in COLUMNS),
        ]
        lines.append(f"| {figure['job']} | {' | '.join(cells)} |")
    machine = results["machine"]
    versions = ", ".join(f"{name} {machine[name]}" for name in COLUMNS)
    return "\n".join(
        (
            *lines,
            "",
            f"How many times as long as gradledger each takes, and {NONE} where it does not do that. Measured by",
            f"`make bench` with {versions} on {in_words(machine)}.",
        )
    )


def with_table(readme: str, table: str) -> str:
    """README's text with this table in place of the old one.

    Raises:
        ValueError: the place of the table is not there once.
    """
    pattern = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
    if len(pattern.findall(readme)) != 1:
        raise ValueError(f"README.md must have one {BEGIN!r} and one {END!r} after it")
    return pattern.sub(lambda _: f"{BEGIN}\n{table}\n{END}", readme)


def _times(ratio: float | None) -> str:
    return NONE if ratio is None else f"{_short(ratio)} {TIMES}"


def _short(value: float) -> str:
    """Two digits: 0.36, 5.2, 60, 110."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def main(path: str = "build/bench.json") -> None:
    """Write the table into README.md."""
    readme = ROOT / "README.md"
    table = rendered(json.loads((ROOT / path).read_text(encoding="utf-8")))
    readme.write_text(with_table(readme.read_text(encoding="utf-8"), table), encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
