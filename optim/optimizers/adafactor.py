"""Adafactor: second moments of a matrix, kept as one number for each row and column."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.kernels.measure import norm
from optim.optimizers.diagnostics import some_rows
from optim.optimizers.driver import Optimizer
from optim.optimizers.layerwise import Layer, LayerwiseUpdate, Move

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.variable import Variable

__all__ = ["AdafactorOptimizer"]


class AdafactorOptimizer(Optimizer):
    r"""Adafactor: Adam without momentum, and with a second moment of rank one. Slots: row_var, col_var, variance.

    .. math::
        R \leftarrow R + t^{c} (\overline{g^2}_{rows} - R), \quad C \text{ likewise}, \quad
        u = g / \sqrt{\max(R C / \bar R, \epsilon_1^2)}, \quad
        v \leftarrow v - \eta \lambda v - \alpha \frac{u}{\max(1, \operatorname{rms}(u) / d)}, \quad
        \alpha = \max(\epsilon_2, \operatorname{rms}(v)) \min(\eta, 1 / \sqrt t)

    as in torch. A variable of more than two axes is factored along the last two; one of fewer has `variance`, which is
    empty for others, as row_var and col_var are for it. A sparse gradient counts as a dense one.

    With diagnostics, a report has the rank-one error: how far g² is from the outer product of its means, relative to
    its norm; of a large matrix, in some of its rows.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta2_decay: c, at most 0: the averages keep :math:`1 - t^c` of themselves.
        epsilon1: ε₁; None means the dtype's resolution.
        epsilon2: ε₂, the least size of the weights that the step is relative to.
        d: the largest root mean square of u.
        weight_decay: λ; as the rate.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([[2.0, 2.0], [2.0, 2.0]], name="w")
    >>> report = AdafactorOptimizer(0.25).apply_gradients([(np.float32([[1e-3, 1e-3], [-5.0, -5.0]]), w)])
    >>> w.value.round(3)
    array([[1.5, 1.5],
           [2.5, 2.5]], dtype=float32)

    References: Shazeer and Stern 2018, https://arxiv.org/abs/1804.04235
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.01,
        beta2_decay: Hyperparameter = -0.8,
        epsilon1: float | None = None,
        epsilon2: Hyperparameter = 1e-3,
        d: Hyperparameter = 1.0,
        weight_decay: Hyperparameter = 0.0,
        use_locking: bool = False,
        name: str = "Adafactor",
    ) -> None:
        update = _AdafactorUpdate(
            rules.GRADIENT_DESCENT, learning_rate, name, use_locking, kept=("row_var", "col_var", "variance"),
            beta2_decay=beta2_decay, epsilon2=epsilon2, d=d, weight_decay=weight_decay,
        )  # fmt: skip
        if epsilon1 is not None:
            update.least = checks.constant("epsilon1", epsilon1, checks.at_least_zero)
        super().__init__(update)


class _AdafactorUpdate(LayerwiseUpdate):
    least: float | None = None

    def bound(self, name: str) -> checks.Bound:
        bounds = {"beta2_decay": checks.not_above_zero, "epsilon2": checks.at_least_zero, "d": checks.positive}
        return bounds.get(name) or super().bound(name)

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        like = super().start(variable, slot)
        if like.ndim < 2:  # noqa: PLR2004 - a matrix
            return like if slot == "variance" else like.reshape(-1)[:0].copy()
        shapes = {"row_var": like[..., :1], "col_var": like[..., :1, :], "variance": like.reshape(-1)[:0]}
        return shapes[slot].copy()

    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        g, rate, t = layer.gradient, values["learning_rate"], self.steps + 1
        least = float(np.finfo(g.dtype).eps) if self.least is None else self.least
        size = max(values["epsilon2"], _rms(layer.value)) * min(rate, 1 / math.sqrt(t))
        kept = 1 - t ** values["beta2_decay"]
        square = g * g
        seen = {"rank_one_error": _rank_one_error(some_rows(square))} if diagnosed and g.ndim == 2 else {}  # noqa: PLR2004
        variance = _averaged(layer.slots, square, kept, least)
        direction = g / np.sqrt(np.maximum(variance, least * least))
        direction *= size / max(1.0, _rms(direction) / values["d"])
        if values["weight_decay"]:
            direction += rate * values["weight_decay"] * layer.value
        return Move(direction, {"learning_rate": 1.0}, seen)


def _averaged(slots: Mapping[str, NDArray[Any]], square: NDArray[Any], kept: float, least: float) -> NDArray[Any]:
    """The variance of each element, after the slots have taken in the squared gradient."""
    if square.ndim < 2:  # noqa: PLR2004 - a matrix
        slots["variance"][...] += (1 - kept) * (square - slots["variance"])
        return slots["variance"]
    rows, columns = slots["row_var"], slots["col_var"]
    rows += (1 - kept) * (square.mean(axis=-1, keepdims=True) - rows)
    columns += (1 - kept) * (square.mean(axis=-2, keepdims=True) - columns)
    variance: NDArray[Any] = rows / np.maximum(rows.mean(axis=-2, keepdims=True), least) * columns
    return variance


def _rank_one_error(square: NDArray[Any]) -> float:
    """How far a matrix is from the outer product of its sums over its total, over its norm."""
    whole = norm([square])
    if not whole:
        return 0.0
    rows = square @ np.ones(square.shape[1], square.dtype)
    columns = np.ones(square.shape[0], square.dtype) @ square
    total, along = float(rows.sum(dtype=np.float64)), float(np.vdot(rows, square @ columns))
    outer = norm([rows]) * norm([columns]) / total
    return math.sqrt(max(whole**2 - 2 * along / total + outer**2, 0.0)) / whole


def _rms(array: NDArray[Any]) -> float:
    return norm([array]) / math.sqrt(array.size)
