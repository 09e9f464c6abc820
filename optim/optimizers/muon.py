"""Muon: momentum, made orthogonal."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import checks, rules
from optim.kernels.measure import norm
from optim.optimizers.diagnostics import some_rows
from optim.optimizers.driver import Optimizer
from optim.optimizers.layerwise import Layer, LayerwiseUpdate, Move, run_rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from optim.optimizers.base import Hyperparameter
    from optim.variable import Variable

__all__ = ["MuonOptimizer"]

_PROBES = 16  # vectors that estimate the orthogonality residual: it costs 1 % of the iteration for a matrix of 1,000
_ADJUSTMENTS = ("original", "match_rms_adamw")


class MuonOptimizer(Optimizer):
    r"""Muon: every direction of a matrix moves alike. Slot: momentum.

    .. math::
        a \leftarrow a + (1 - \mu)(g - a), \quad u = g + \mu (a - g), \quad
        v \leftarrow v - \eta \lambda v - \eta \sqrt{\max(1, n / m)} \operatorname{orthogonal}(u)

    for a matrix of n rows and m columns. Its nearest orthogonal matrix is estimated by Newton and Schulz's iteration,
    in the dtype of the arithmetic (torch: in bfloat16), so that its singular values come to lie between 0.7 and 1.2.
    Only matrices have one: train other variables with another optimizer. A sparse gradient counts as a dense one.

    With diagnostics, a report has the residual of orthogonality, :math:`\lVert O O^T - 1 \rVert_F / \sqrt n` for n ≤ m,
    estimated from 16 vectors, and the cosine between gradient and momentum, of a large matrix from some of its rows.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        weight_decay: λ; likewise.
        momentum: μ; likewise.
        nesterov: whether u is as above; otherwise it is a.
        ns_coefficients: the three coefficients of the iteration :math:`X \leftarrow aX + bXX^TX + c(XX^T)^2X`.
        eps: the least norm that u is divided by, so that its singular values are at most 1.
        ns_steps: the number of iterations.
        adjust_lr_fn: how the rate depends on the shape: "original", and None, as above; "match_rms_adamw":
            :math:`0.2 \sqrt{\max(n, m)}`, which moves the weights as much as AdamW, so that its rate can be used.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.

    Raises:
        ValueError: `adjust_lr_fn` is unknown, or, at the first step of a variable, that it is not a matrix.

    >>> from optim import Variable
    >>> w = Variable(np.zeros((2, 2)), name="w")
    >>> optimizer = MuonOptimizer(0.5, ns_steps=20, ns_coefficients=(1.5, -0.5, 0.0))
    >>> report = optimizer.apply_gradients([(np.diag([3.0, -1e-2]), w)])
    >>> w.value.round(3)
    array([[-0.5,  0. ],
           [ 0. ,  0.5]])

    References: Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; Liu et al. 2025,
    https://arxiv.org/abs/2502.16982
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.001,
        weight_decay: Hyperparameter = 0.1,
        momentum: Hyperparameter = 0.95,
        nesterov: bool = True,
        ns_coefficients: Sequence[float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
        use_locking: bool = False,
        name: str = "Muon",
    ) -> None:
        update = _MuonUpdate(
            rules.GRADIENT_DESCENT, learning_rate, name, use_locking, kept=("momentum",),
            weight_decay=weight_decay, momentum=momentum,
        )  # fmt: skip
        if adjust_lr_fn not in (None, *_ADJUSTMENTS):
            raise ValueError(f"adjust_lr_fn must be one of {', '.join(_ADJUSTMENTS)} or None, got {adjust_lr_fn!r}")
        update.as_adamw = adjust_lr_fn == "match_rms_adamw"
        update.nesterov = nesterov
        update.coefficients = tuple(checks.constant("ns_coefficients", x, checks.finite) for x in ns_coefficients)
        if len(update.coefficients) != 3:  # noqa: PLR2004 - of a quintic without even powers
            raise ValueError(f"ns_coefficients must be three numbers, got {len(update.coefficients)}")
        update.iterations = checks.positive_integer("ns_steps", ns_steps)
        update.least = checks.constant("eps", eps, checks.positive)
        super().__init__(update)


class _MuonUpdate(LayerwiseUpdate):
    nesterov = True
    coefficients: tuple[float, ...] = ()
    iterations = 5
    least = 1e-7
    as_adamw = False

    def start(self, variable: Variable, slot: str) -> NDArray[Any]:
        if variable.value.ndim != 2:  # noqa: PLR2004 - a matrix
            raise ValueError(
                f"variable {variable.name!r} must be a matrix for {self.name}, got shape {variable.shape}:"
                " train it with another optimizer, such as AdamWOptimizer"
            )
        return super().start(variable, slot)

    def move(self, layer: Layer, values: Mapping[str, float], *, diagnosed: bool) -> Move:
        rate, mu, momentum = values["learning_rate"], values["momentum"], layer.slots["momentum"]
        run_rule(rules.MOVING_AVERAGE, layer.gradient, [momentum], [mu])
        wanted = layer.gradient + mu * (momentum - layer.gradient) if self.nesterov else momentum
        direction = _orthogonal(wanted, self.coefficients, self.iterations, self.least)
        seen = {}
        if diagnosed:
            g, m = some_rows(layer.gradient), some_rows(momentum)
            seen = {
                "orthogonality_residual": _residual(direction),
                "momentum_cosine": float(np.vdot(g, m)) / (norm([g]) * norm([m]) or math.inf),
            }
        rows, columns = layer.value.shape
        direction *= 0.2 * math.sqrt(max(rows, columns)) if self.as_adamw else math.sqrt(max(1, rows / columns))
        direction += values["weight_decay"] * layer.value
        return Move(direction, {"learning_rate": rate}, seen)


def _orthogonal(matrix: NDArray[Any], coefficients: Sequence[float], iterations: int, least: float) -> NDArray[Any]:
    """A new matrix with the same singular vectors, and singular values near 1."""
    a, b, c = coefficients
    tall = matrix.shape[0] > matrix.shape[1]
    x = (matrix.T if tall else matrix) / max(norm([matrix]), least)
    for _ in range(iterations):
        gram = x @ x.T
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return np.ascontiguousarray(x.T if tall else x)


def _residual(matrix: NDArray[Any]) -> float:
    """How far the shorter side's vectors are from orthonormal, per vector; from a few fixed vectors, if it has more."""
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    probes = _signs(len(x)).astype(x.dtype) if len(x) > _PROBES else np.eye(len(x), dtype=x.dtype)
    rest = x @ (x.T @ probes) - probes
    return norm([rest]) / norm([probes])


@cache
def _signs(size: int) -> NDArray[Any]:
    return np.random.default_rng(size).choice([-1.0, 1.0], (size, _PROBES))
