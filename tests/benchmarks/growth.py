"""How a cost grows with a size: seconds at several sizes, and the exponent that fits them.

What is fitted is seconds = a + b * size ** p, with a ≥ 0, by least squares of relative errors: a is what is paid at any
size, such as opening a file, and would make the slope of the logarithms too small, and hide an exponent above 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.peers import take_turns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.peers import Contender

MOST = 1.05  # an exponent that is above it with its whole interval must be explained
_NOISE = 0.03  # of the least times, relative: that of a quiet machine
_EXPONENTS = np.arange(0.0, 3.0005, 0.005)


@dataclass(frozen=True)
class Growth:
    """How one cost grows.

    Attributes:
        cost: what was measured: "reading, compiled".
        of: what it grows with: "points".
        sizes: four of these at least, in rising order.
        seconds: the least time at each size.
        note: why the exponent is above 1.05, where that is shown: its interval is above, too.
    """

    cost: str
    of: str
    sizes: tuple[float, ...]
    seconds: tuple[float, ...]
    note: str = ""

    @property
    def exponent(self) -> float:
        """The exponent p that fits."""
        return exponent(self.sizes, self.seconds)

    @property
    def interval(self) -> tuple[float, float]:
        """The exponents that noise could have made of the same growth."""
        return interval(self.sizes, self.seconds)

    def lines(self) -> list[str]:
        """The growth as text: the exponent, and what was measured."""
        measured = ", ".join(
            f"{size:,.0f}: {1e3 * taken:,.3g} ms" for size, taken in zip(self.sizes, self.seconds, strict=True)
        )
        low, high = self.interval
        above = f"   above {MOST}: {self.note or 'unexplained'}" if low > MOST else ""
        shown = f"  {'exponent':28}{self.exponent:12.2f}   {low:.2f} to {high:.2f}   {measured}{above}"
        return [f"{self.cost}, growth with {self.of}", shown]


def exponent(sizes: tuple[float, ...], seconds: tuple[float, ...]) -> float:
    """The p of seconds = a + b * size ** p that fits best, a and b not negative; in steps of 0.005, from 0 to 3."""
    return float(_EXPONENTS[np.argmin(_misfits(sizes, seconds))])


def interval(sizes: tuple[float, ...], seconds: tuple[float, ...]) -> tuple[float, float]:
    """The least and the largest p that fit as well as noise allows: within two of its standard deviations.

    The noise is 3 %, or what the best fit leaves, if that is more.
    """
    misfits = _misfits(sizes, seconds)
    allowed = misfits.min() + 4 * max(_NOISE**2, misfits.min())
    fitting = _EXPONENTS[misfits <= allowed]
    return float(fitting[0]), float(fitting[-1])


def _misfits(sizes: tuple[float, ...], seconds: tuple[float, ...]) -> np.ndarray:
    """The misfit of every exponent."""
    scaled = np.asarray(sizes, float) / max(sizes)
    weights = 1 / np.asarray(seconds, float)
    return np.array([_misfit(weights, scaled**p * weights) for p in _EXPONENTS])


def _misfit(fixed: np.ndarray, growing: np.ndarray) -> float:
    """The least sum of squares of a * fixed + b * growing - 1, a and b not negative."""
    columns = np.column_stack((fixed, growing))
    found, *_ = np.linalg.lstsq(columns, np.ones(len(fixed)))
    if (found < 0).any():
        found = np.array((0.0, growing.sum() / (growing @ growing)))
    return float(((columns @ found - 1) ** 2).sum())


def rising(largest: int) -> tuple[int, int, int, int]:
    """Four sizes, each four times the one before: far enough apart that noise of 3 % moves the exponent by 0.02."""
    return largest // 64, largest // 16, largest // 4, largest


def grown(cost: str, of: str, contenders: Mapping[int, Contender], note: str = "", seconds: float = 1.5) -> Growth:
    """Measure ours at several sizes, in turns."""
    named = {str(size): contender for size, contender in contenders.items()}
    least = take_turns(named, seconds).least()
    return Growth(cost, of, tuple(contenders), tuple(least[name] for name in named), note)
