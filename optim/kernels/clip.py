"""Clip: what a step does to the elements of its gradients before the formula reads them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.plain import compute_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AS_IT_IS", "Clip"]


class Clip(NamedTuple):
    """What is done to each element of a gradient: times `scale`, then kept within [`low`, `high`]. NaN stays NaN."""

    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def scaled(self, factor: float) -> Clip:
        """This, and then times `factor`, which is positive, or NaN."""
        return self if factor == 1.0 else Clip(self.scale * factor, self.low * factor, self.high * factor)

    def kept_within(self, low: float, high: float) -> Clip:
        """This, and then kept within [`low`, `high`]."""
        return Clip(self.scale, *(min(max(bound, low), high) for bound in (self.low, self.high)))

    @property
    def only_scales(self) -> bool:
        """Whether there are no bounds."""
        return not (self.low > -math.inf or self.high < math.inf)

    def applied(self, array: NDArray[Any]) -> NDArray[Any]:
        """A clipped copy of `array`, in its dtype."""
        wide = compute_dtype(array.dtype)  # the scale may be smaller than what a narrower dtype holds
        with np.errstate(all="ignore"):
            scaled = np.multiply(array, wide.type(self.scale), dtype=wide, out=np.empty(array.shape, wide))
            if not self.only_scales:
                np.minimum(np.maximum(scaled, wide.type(self.low), out=scaled), wide.type(self.high), out=scaled)
            kept: NDArray[Any] = scaled.astype(array.dtype, copy=False)
        return kept


AS_IT_IS = Clip()
