"""Each optimizer's update as one elementwise formula, written as in its paper.

A formula takes the gradient g, the variable v, the slots and the step's hyperparameters, and returns the new variable
and the new slots. It says nothing of arrays, blocks, threads or clipping: `kernels` runs it. So a new optimizer is a
formula here, and a class in `optimizers` that names its hyperparameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["GRADIENT_DESCENT", "Rule"]


@dataclass(frozen=True)
class Rule:
    """How one optimizer moves one element.

    Attributes:
        formula: (g, v, *slots, *hyperparameters) → (v, *slots), with elementwise arithmetic only.
        slots: the slots' names, in the formula's order.
        reference: where the formula is from.
    """

    formula: Callable[..., tuple[Any, ...]]
    slots: tuple[str, ...]
    reference: str


def _gradient_descent(g: Any, v: Any, learning_rate: Any) -> tuple[Any]:
    return (v - learning_rate * g,)


GRADIENT_DESCENT = Rule(
    _gradient_descent,
    slots=(),
    reference="Robbins and Monro 1951, https://doi.org/10.1214/aoms/1177729586",
)
