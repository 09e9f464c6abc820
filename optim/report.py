"""StepReport: what one step did, as values."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["StepReport"]


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one call of apply_gradients did.

    Attributes:
        step: the step's number: the global step after the update, or how often this optimizer was called.
        learning_rate: the rate in force.
        global_norm: the L2 norm of all gradients before clipping; None where nobody asked for it.
        clip_norm: the bound on the norm; None where there is no clipping.
        clipped: whether the norm was above the bound.
        nonfinite: how many elements of the gradients were NaN or infinite; None where the norm is.
    """

    step: int
    learning_rate: float
    global_norm: float | None = None
    clip_norm: float | None = None
    clipped: bool = False
    nonfinite: int | None = None

    @property
    def clipped_global_norm(self) -> float | None:
        """The global norm after clipping."""
        return self.clip_norm if self.clipped else self.global_norm
