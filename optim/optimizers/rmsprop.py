"""RMSProp: gradients divided by their root mean square."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optim import rules
from optim.optimizers.base import Update
from optim.optimizers.driver import Optimizer

if TYPE_CHECKING:
    from optim.optimizers.base import Hyperparameter

__all__ = ["RMSPropOptimizer"]


class RMSPropOptimizer(Optimizer):
    r"""RMSProp: gradients divided by their root mean square. Slots: rms (starts at 1), momentum; mg if centered.

    .. math::
        s \leftarrow s + (1 - \rho)(g^2 - s), \quad a \leftarrow \mu a + \eta g / \sqrt{s + \epsilon}, \quad
        v \leftarrow v - a

    If centered, :math:`\bar g \leftarrow \bar g + (1 - \rho)(g - \bar g)` and the root is of
    :math:`s - \bar g^2 + \epsilon`.

    Args:
        learning_rate: η; a number, a Variable, or a callable of no arguments.
        decay: ρ; likewise.
        momentum: μ; likewise.
        epsilon: ε, inside the root; likewise.
        use_locking: whether several threads may call apply_gradients at once.
        centered: whether to use the variance instead of the mean square.
        name: the optimizer's name.

    >>> from optim import Variable
    >>> w = Variable([1.0], name="w")
    >>> report = RMSPropOptimizer(0.5, decay=0.5).apply_gradients([(np.float32([1.0]), w)])
    >>> w.value
    array([0.5], dtype=float32)

    References: Tieleman and Hinton 2012, Coursera, Lecture 6.5; Graves 2013, https://arxiv.org/abs/1308.0850
    """

    def __init__(
        self,
        learning_rate: Hyperparameter,
        decay: Hyperparameter = 0.9,
        momentum: Hyperparameter = 0.0,
        epsilon: Hyperparameter = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        rule = rules.RMSPROP_CENTERED if centered else rules.RMSPROP
        update = Update(
            rule, learning_rate, name, use_locking,
            initial={"rms": 1.0}, decay=decay, momentum=momentum, epsilon=epsilon,
        )  # fmt: skip
        super().__init__(update)
