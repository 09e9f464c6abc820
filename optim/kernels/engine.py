"""The choice between the two engines, which run formulas over arrays and measure arrays.

Both use the same formula from `rules`, and give the same results: `plain` says what each method does. All arrays of a
call are ready, and have the same dtype; but `plain` takes any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optim.kernels import compiled, plain
from optim.kernels.compiled import Arrays, is_ready

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Engine = plain.Engine | compiled.Engine
    # A rule over arrays at fixed addresses: `plain` says what it takes, and what it returns.
    Run = Callable[[Sequence[NDArray[Any]], NDArray[np.float64], bool], NDArray[np.float64] | None]

__all__ = ["Arrays", "engine", "is_ready"]


def engine() -> Engine:
    """The engine for ready arrays: compiled where there is a library for this machine, and it is not switched off."""
    return compiled.ENGINE if compiled.is_available() else plain.ENGINE
