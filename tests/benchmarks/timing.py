"""Timing for all peers: best of several rounds, taken in turns so that a busy moment affects all of them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def best_seconds(contenders: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """The shortest time of each contender, in seconds."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, run in contenders.items():
            started = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - started)
    return best


def print_table(title: str, unit: str, figures: dict[str, float], ours: str = "gradledger") -> None:
    """Print a line for each contender: its figure, and its ratio to ours."""
    print(f"{title}, {unit}")
    for name, figure in figures.items():
        ratio = f"   {figure / figures[ours]:8.1f} x ours" if name != ours else ""
        print(f"  {name:24s}{figure:12.3f}{ratio}")
