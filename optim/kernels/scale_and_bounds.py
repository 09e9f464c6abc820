"""Clip: scaling and bounds for the elements of gradients, applied before the formula reads them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from optim.kernels.plain import compute_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AS_IT_IS", "Clip"]


class Clip(NamedTuple):
    """Multiplies each element of a gradient by `scale`, then clips it to [`low`, `high`]. NaN stays NaN."""

    scale: float = 1.0
    low: float = -math.inf
    high: float = math.inf

    def scaled(self, factor: float) -> Clip:
        """This clip, followed by a multiplication by `factor`, which must be positive or NaN."""
        return self if factor == 1.0 else Clip(self.scale * factor, self.low * factor, self.high * factor)

    def kept_within(self, low: float, high: float) -> Clip:
        """This clip, followed by clipping to [`low`, `high`]."""
        return Clip(self.scale, *(min(max(bound, low), high) for bound in (self.low, self.high)))

    @property
    def only_scales(self) -> bool:
        """Whether there are no bounds."""
        return not (self.low > -math.inf or self.high < math.inf)

    def applied(self, array: NDArray[Any]) -> NDArray[Any]:
        """A clipped copy of `array`, in its dtype."""
        wide = compute_dtype(array.dtype)  # the scale may be too small for a narrower dtype
        with np.errstate(all="ignore"):
            scaled = np.multiply(array, wide.type(self.scale), dtype=wide, out=np.empty(array.shape, wide))
            if not self.only_scales:
                np.minimum(np.maximum(scaled, wide.type(self.low), out=scaled), wide.type(self.high), out=scaled)
            kept: NDArray[Any] = scaled.astype(array.dtype, copy=False)
        return kept


AS_IT_IS = Clip()
