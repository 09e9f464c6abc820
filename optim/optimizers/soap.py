"""SOAP: Adam in the eigenbasis of Shampoo."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.optimizers.driver import Optimizer
from optim.optimizers.layerwise import Layer, LayerwiseUpdate, Move, run_rule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.variable import Variable

__all__ = ["SoapOptimizer"]

_SIDES = ("left", "right")
_KEPT = ("m", "v", *_SIDES, *(f"{side}_basis" for side in _SIDES), "basis")
_AGE, _CONDITION, _STEPS = range(3)  # of the slot "basis"


class SoapOptimizer(Optimizer):
    r"""SOAP: Adam, in coordinates in which Shampoo's preconditioner is diagonal.

    Slots: m, v; left and right, the factors; left_basis and right_basis; basis: its age in steps, the largest condition
    of a factor when it was made, and the variable's steps.

    .. math::
        L \leftarrow L + (1 - \beta)(G G^T - L), \quad R \leftarrow R + (1 - \beta)(G^T G - R), \quad
        v \leftarrow v - \eta Q_L \frac{\hat m'}{\sqrt{\hat s} + \epsilon'} Q_R^T - \eta \lambda v, \quad
        m' = Q_L^T m Q_R

    where s averages the squares of :math:`Q_L^T G Q_R`. The bases Q begin as eigenvectors of L and R, and are made
    anew every few steps by one step of the power iteration, made orthogonal. The first step only begins the factors,
    and moves nothing. A variable of more than two axes counts as a matrix of its first axis by all others; one of fewer
    has no factors. A sparse gradient counts as a dense one.

    With diagnostics, a report has the age of the basis, in steps, and the condition: the largest eigenvalue over the
    smallest.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of s is kept; likewise.
        shampoo_beta: β, how much of the factors is kept; None means β₂.
        epsilon: ε; added to the root before the correction; likewise.
        weight_decay: λ; likewise.
        precondition_frequency: the steps between two bases.
        max_precond_dim: a longer side has no factor: its basis is the identity.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable(np.zeros((2, 2)), name="w")
    >>> g, optimizer = np.array([[3.0, 0.0], [0.0, -1e-2]]), SoapOptimizer(0.5, weight_decay=0.0)
    >>> for _ in range(2):
    ...     report = optimizer.apply_gradients([(g, w)])
    >>> w.value.round(3) + 0.0
    array([[-0.5,  0. ],
           [ 0. ,  0.5]])

    References: Vyas et al. 2025, https://arxiv.org/abs/2409.11321; Gupta et al. 2018, https://arxiv.org/abs/1802.09568
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.003,
        beta1: Hyperparameter = 0.95,
        beta2: Hyperparameter = 0.95,
        shampoo_beta: Hyperparameter | None = None,
        epsilon: Hyperparameter = 1e-8,
        weight_decay: Hyperparameter = 0.01,
        precondition_frequency: int = 10,
        max_precond_dim: int = 10_000,
        use_locking: bool = False,
        name: str = "Soap",
    ) -> None:
        update = _SoapUpdate(
            rules.GRADIENT_DESCENT, learning_rate, name, use_locking, kept=_KEPT,
            beta1=beta1, beta2=beta2, epsilon=epsilon, weight_decay=weight_decay,
            shampoo_beta=beta2 if shampoo_beta is None else shampoo_beta,
        )  # fmt: skip
        update.every = checks.positive_integer("precondition_frequency", precondition_frequency)
        update.longest = checks.positive_integer("max_precond_dim", max_precond_dim)
        super().__init__(update)


class _SoapUpdate(LayerwiseUpdate):
    every = 10
    longest = 10_000

    def bound(self, name: str) -> checks.Bound:
        return checks.up_to_one if name == "shampoo_beta" else super().bound(name)

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        fresh = super().start(variable, slot)
        if slot in ("m", "v"):
            return fresh
        if slot == "basis":
            return np.zeros(3)
        side = 0
        if fresh.ndim > 1 and fresh.size:
            shape = fresh.shape[0], fresh.size // fresh.shape[0]
            side = shape[slot.startswith("right")]
        return np.zeros((side, side) if side <= self.longest else (0, 0), fresh.dtype)

    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        slots, rate = layer.slots, values["learning_rate"]
        basis = slots["basis"]
        g = layer.gradient.reshape(len(layer.gradient), -1) if layer.gradient.ndim > 1 else layer.gradient
        if not basis[_STEPS]:
            _take_in(g, slots, values)
            self._begin(slots)
            return Move(np.zeros_like(layer.gradient), {"learning_rate": 0.0})
        direction = self._direction(g, slots, values, int(basis[_STEPS])).reshape(layer.value.shape)
        if values["weight_decay"]:
            # the decay follows the step: (v - ηd)(1 - ηλ)
            direction += values["weight_decay"] * (layer.value - rate * direction)
        seen = {"basis_age": float(basis[_AGE]), "condition": float(basis[_CONDITION])}
        _take_in(g, slots, values)
        basis[[_AGE, _STEPS]] += 1
        if (basis[_STEPS] - 1) % self.every == 0:
            _renew(slots)
        return Move(direction, {"learning_rate": rate}, seen if g.ndim > 1 else {})

    def _begin(self, slots: Mapping[str, NDArray[Any]]) -> None:
        conditions = [1.0]
        for side in _SIDES:
            if slots[side].size:
                values, vectors = _eigen(slots[side])
                slots[f"{side}_basis"][...] = vectors[:, ::-1]
                conditions.append(_condition(values))
        slots["basis"][...] = 0.0, max(conditions), 1.0

    def _direction(
        self, g: NDArray[Any], slots: Mapping[str, NDArray[Any]], values: Mapping[str, float], t: int
    ) -> NDArray[Any]:
        """Adam's step in the basis, turned back."""
        beta1, beta2 = values["beta1"], values["beta2"]
        root = math.sqrt(1 - beta2**t)
        m, s = (slots[name].reshape(g.shape) for name in ("m", "v"))
        run_rule(rules.MOVING_AVERAGE, g, [m], [beta1])
        turned = _turned(g, slots)
        run_rule(rules.MOVING_AVERAGE, turned * turned, [s], [beta2])
        step = _turned(m, slots) * (root / (1 - beta1**t)) / (np.sqrt(s) + values["epsilon"])
        return _turned(step, slots, back=True)


def _eigen(factor: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Eigenvalues, rising, and vectors; NaN, as any other state, if the factor is not finite."""
    if not np.isfinite(factor).all():
        return np.full(len(factor), np.nan), np.full_like(factor, np.nan)
    return np.linalg.eigh(factor)


def _take_in(g: NDArray[Any], slots: Mapping[str, NDArray[Any]], values: Mapping[str, float]) -> None:
    """Let the factors take in a gradient."""
    beta = values["shampoo_beta"]
    for side, matrix in zip(_SIDES, (g, g.T), strict=True):
        if slots[side].size:
            slots[side][...] += (1 - beta) * (matrix @ matrix.T - slots[side])


def _turned(x: NDArray[Any], slots: Mapping[str, NDArray[Any]], *, back: bool = False) -> NDArray[Any]:
    """A matrix in the coordinates of the bases, or back from there."""
    left, right = slots["left_basis"], slots["right_basis"]
    if left.size:
        x = (left if back else left.T) @ x
    if right.size:
        x = x @ (right.T if back else right)
    return np.ascontiguousarray(x)


def _renew(slots: Mapping[str, NDArray[Any]]) -> None:
    """Make the bases anew, by one step of the power iteration from the present ones; the largest direction first."""
    conditions = [1.0]
    for axis, side in enumerate(_SIDES):
        basis = slots[f"{side}_basis"]
        if not basis.size:
            continue
        onward = slots[side] @ basis
        values = np.einsum("ij,ij->j", basis, onward)
        order = np.argsort(-values, kind="stable")
        s = slots["v"].reshape(len(slots["v"]), -1)
        s[...] = s.take(order, axis)
        basis[...] = np.linalg.qr(onward[:, order])[0]
        conditions.append(_condition(values))
    slots["basis"][[_AGE, _CONDITION]] = 0.0, max(conditions)


def _condition(values: NDArray[Any]) -> float:
    """The largest eigenvalue over the smallest; infinite if that is not positive."""
    least = float(values.min())
    return float(values.max()) / least if least > 0 else math.inf
