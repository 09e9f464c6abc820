"""An optimizer of your own, by public names only: AdaMax, written without `optim.AdaMaxOptimizer`.

    python examples/own_optimizer.py

It has three parts: the formula for one element, a hook that gives the formula its numbers, and the class that people
call. Kernels, slots, reports, clipping, summaries and checkpoints come with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import optim

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Hyperparameter = float | optim.Variable | Callable[[], float]


def adamax(
    g: Any, v: Any, m: Any, u: Any, rate: Any, beta1: Any, beta2: Any, epsilon: Any
) -> tuple[Any, Any, Any]:  # fmt: skip
    """From the gradient, the variable, the slots and the numbers: the new variable and the new slots."""
    m = beta1 * m + (1 - beta1) * g
    u = np.where(beta2 * u > np.abs(g) + epsilon, beta2 * u, np.abs(g) + epsilon)
    return v - rate * m / u, m, u


# moves_at_rest: where the gradient is 0, m still moves the weights, so a sparse gradient has to move all rows.
ADAMAX = optim.Rule(adamax, ("m", "u"), "Kingma and Ba 2015, https://arxiv.org/abs/1412.6980", moves_at_rest=True)


class AdaMaxUpdate(optim.Update):
    """AdaMax's formula takes a rate that is not a hyperparameter, but follows from them and the count of steps."""

    def formula_numbers(self, values: Mapping[str, float], dtype: np.dtype[Any]) -> tuple[float, ...]:
        """The rate is corrected for m, which starts at 0."""
        rate = values["learning_rate"] / (1 - values["beta1"] ** (self.steps + 1))
        return super().formula_numbers({**values, "rate": rate}, dtype)


class AdaMaxOptimizer(optim.Optimizer):
    r"""AdaMax: Adam with the largest gradient of late in place of the root of their mean square. Slots: m, u.

    .. math::
        m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad u \leftarrow \max(\beta_2 u, |g| + \epsilon), \quad
        v \leftarrow v - \frac{\eta}{1 - \beta_1^t} \frac{m}{u}

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        beta1: β₁, how much of m is kept; likewise.
        beta2: β₂, how much of u is kept; likewise.
        epsilon: ε; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        name: the optimizer's name.
    """

    def __init__(
        self,
        learning_rate: Hyperparameter = 0.002,
        beta1: Hyperparameter = 0.9,
        beta2: Hyperparameter = 0.999,
        epsilon: Hyperparameter = 1e-8,
        use_locking: bool = False,
        name: str = "AdaMax",
    ) -> None:
        super().__init__(
            AdaMaxUpdate(ADAMAX, learning_rate, name, use_locking, beta1=beta1, beta2=beta2, epsilon=epsilon)
        )


def main() -> None:
    """Fit a line through points that lie on it."""
    x = np.linspace(-1, 1, 9)
    y = 3 * x - 2
    slope, intercept = optim.Variable(0.0, name="slope"), optim.Variable(0.0, name="intercept")
    optimizer = optim.clip_gradients_by_norm(AdaMaxOptimizer(0.1), clip_norm=1.0)
    for step in range(1, 301):
        report = optimizer.minimize(lambda: np.mean((slope * x + intercept - y) ** 2))
        if step in (1, 10, 100, 300):
            print(f"step {step:3}: loss {report.loss:.4f}")
    print(f"y = {float(slope):.2f} x {float(intercept):+.2f}")


if __name__ == "__main__":
    main()
