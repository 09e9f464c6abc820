"""What an optimizer's own theory says of a step: measured on a sample of the elements, after the update.

A second pass over memory would cost as much as the update. So at most some ten thousands of elements are looked at, in
lines of the cache, evenly over each variable: always the same ones, and all of a small variable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from optim.variable import IndexedSlices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from optim.optimizers.step import Step

__all__ = ["Sample", "see_adam", "some_rows"]

_ELEMENTS = 1 << 15  # of all variables, and no more than
_SHARE = 50  # one in so many of them, but
_LEAST = 64  # of each
_LINE = 16  # elements that lie together: 64 bytes of float32
_ROWS = 32  # of a matrix, at least


class Sample:
    """Some elements of gradients and slots: float64, those of one variable after those of another.

    A variable whose gradient is sparse, or that has no elements, is left out.

    Attributes:
        gradient: clipped.
        slots: slot name → its elements.
    """

    def __init__(self, step: Step, arrays: Sequence[Sequence[NDArray[Any]]], slots: Sequence[str]) -> None:
        self._variables = len(step.variables)
        self._chosen = [
            i for i, g in enumerate(step.gradients) if not isinstance(g, IndexedSlices) and arrays[i][0].size
        ]
        total = sum(arrays[i][0].size for i in self._chosen)
        parts = [_part(arrays[i][0].size, total) for i in self._chosen]
        gradients = [g for g in step.gradients if not isinstance(g, IndexedSlices) and g.size]
        self.gradient: NDArray[Any] = step.clip.applied(_taken(gradients, parts))
        self.slots: dict[str, NDArray[np.float64]] = {
            slot: _taken([arrays[i][1 + k] for i in self._chosen], parts) for k, slot in enumerate(slots)
        }
        sizes = [len(range(0, size // _LINE, every)) * _LINE if every else size for size, every in parts]
        self._first = np.cumsum([0, *sizes[:-1]])
        self._sizes = np.array(sizes)

    def mean(self, elements: NDArray[Any]) -> NDArray[np.float64]:
        """float64[variables]: the mean over each variable's elements; NaN for one that is left out."""
        means = np.full(self._variables, np.nan)
        if self._chosen:
            means[self._chosen] = np.add.reduceat(elements, self._first, dtype=np.float64) / self._sizes
        return means


def _part(size: int, total: int) -> tuple[int, int]:
    """The size, and which lines are taken: one in so many; 0 for all elements."""
    wanted = max(_LEAST, min(_ELEMENTS, total // _SHARE) * size // total)
    return size, -(-size // wanted) if size > wanted else 0


def _taken(arrays: Sequence[NDArray[Any]], parts: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    taken = []
    for array, (size, every) in zip(arrays, parts, strict=True):
        flat = array.reshape(-1)
        taken.append(flat[: size // _LINE * _LINE].reshape(-1, _LINE)[::every].reshape(-1) if every else flat)
    return np.concatenate(taken, dtype=np.float64, casting="unsafe") if taken else np.empty(0)


def some_rows(matrix: NDArray[Any]) -> NDArray[Any]:
    """A copy of some tens of a matrix's rows, evenly over it; the matrix itself if it has no more."""
    return np.ascontiguousarray(matrix[:: max(1, len(matrix) // _ROWS)])


def see_adam(step: Step, sample: Sample, power1: float, power2: float, epsilon: float) -> None:
    r"""Note what the theory of Adam says: names → values as `optim` documents them.

    Args:
        step: gets the values.
        sample: of a rule with the slots m and v.
        power1: β₁ᵗ.
        power2: β₂ᵗ.
        epsilon: ε, as it is added to the corrected root.
    """
    g, m, s = sample.gradient, sample.slots["m"], sample.slots["v"]
    variance = s / (1 - power2)
    root = np.sqrt(variance)
    move = m / (1 - power1) / (root + epsilon)
    mean = sample.mean
    step.seen |= {
        "update_rms": np.sqrt(mean(move * move)),
        "gradient_rms": np.sqrt(mean(g * g / np.maximum(variance, max(epsilon * epsilon, 1e-300)))),
        "epsilon_share": mean(root < epsilon),
        "momentum_cosine": mean(g * m) / np.sqrt(mean(g * g) * mean(m * m)),
        "effective_rate": step.hyperparameters["learning_rate"] * mean(1 / (root + epsilon)),
    }
