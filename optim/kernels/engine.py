"""Engine: runs formulas over arrays and measures arrays; and the choice between the two engines.

Both use the same formula from `rules`, and give the same results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from optim.kernels import compiled, plain
from optim.kernels.codegen import DTYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

__all__ = ["Engine", "Run", "engine", "is_ready"]

_READY = {np.dtype(name) for name in DTYPES}


class Run(Protocol):
    """A rule over arrays at fixed addresses."""

    def __call__(
        self, gradients: Sequence[NDArray[Any]], numbers: NDArray[np.float64], report: bool
    ) -> NDArray[np.float64] | None:
        """Update the arrays in place.

        Args:
            gradients: one for each variable, of its shape and dtype, and ready; not modified.
            numbers: scale, low, high, then the hyperparameters; see `codegen`.
            report: whether to measure.

        Returns:
            float64[variables, width], a rule's columns of `stats`; None without a report.
        """


class Engine(Protocol):
    """Runs formulas over arrays, and measures arrays. All arrays of a call are ready, and have the same dtype."""

    def prepare(self, rule: Rule, targets: Sequence[Sequence[NDArray[Any]]]) -> Run:
        """Prepare a run of the rule over these arrays: for each variable its own and its slots', in rule order."""

    def squares(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays]: the sum of the squares of each array's elements."""

    def measure(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """float64[arrays, ARRAY_WIDTH]: an array's columns of `stats`."""

    def addresses(self, arrays: Sequence[NDArray[Any]]) -> NDArray[np.int64]:
        """int64[arrays]: the address of each array's first element; the arrays need not be ready."""


def engine() -> Engine:
    """The engine for ready arrays: compiled where there is a library for this machine, and it is not switched off."""
    return compiled.ENGINE if compiled.is_available() else plain.ENGINE


def is_ready(array: NDArray[Any]) -> bool:
    """Whether an engine can iterate over the array's memory directly. `plain` also handles all other arrays."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned and array.dtype in _READY and array.size > 0
