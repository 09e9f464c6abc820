"""The choice between the two engines, which run formulas over arrays and measure arrays.

Both use the same formula from `rules`, and give the same results: `plain` says what each method does. All arrays of a
call are ready, and have the same dtype; but `plain` takes any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.kernels import compiled, plain
from optim.kernels.codegen import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Engine = plain.Engine | compiled.Engine
    # A rule over arrays at fixed addresses: `plain` says what it takes, and what it returns.
    Run = Callable[[Sequence[NDArray[Any]], NDArray[np.float64], bool], NDArray[np.float64] | None]

__all__ = ["engine", "is_ready"]

_READY = {np.dtype(name) for name in DTYPES}


def engine() -> Engine:
    """The engine for ready arrays: compiled where there is a library for this machine, and it is not switched off."""
    return compiled.ENGINE if compiled.is_available() else plain.ENGINE


def is_ready(array: NDArray[Any]) -> bool:
    """Whether an engine can iterate over the array's memory directly. `plain` also handles all other arrays."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned and array.dtype in _READY and array.size > 0
