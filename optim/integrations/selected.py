"""The parameters of a model that one optimizer trains."""

from __future__ import annotations

import warnings
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from optim.telemetry.trees import named_parameters
from optim.wiring.versions import is_same, version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from optim.wiring.versions import Version

__all__ = ["ClippedParameters", "Leftover", "Selected"]


class ClippedParameters(NamedTuple):
    """How parameters that are clipped relate to those that are measured, of those that have gradients.

    Attributes:
        concerns: whether any is both.
        not_measured: the number of those that are only clipped.
        not_clipped: the number of those that are only measured.
    """

    concerns: bool
    not_measured: int
    not_clipped: int


class Selected:
    """A model reduced to the parameters of an optimizer, for GradientMonitor: names from the one, choice by the other.

    Parameters that the optimizer is given later are selected from then on. Complex ones are left out, with a warning.

    Args:
        model: the module.
        optimizer: a torch optimizer.

    Raises:
        TypeError: one of them is something else.
        ValueError: the model has none of the optimizer's parameters.
    """

    def __init__(self, model: Any, optimizer: Any) -> None:
        is_optimizer = hasattr(optimizer, "param_groups") and hasattr(optimizer, "register_step_pre_hook")
        if not (is_optimizer and hasattr(model, "named_parameters") and hasattr(model, "modules")):
            raise TypeError(
                "attach(optimizer, writer, model) needs a torch optimizer and a torch module, got "
                f"{type(optimizer).__name__} as optimizer and {type(model).__name__} as model"
            )
        self.model = model
        self._optimizer = weakref.ref(optimizer)
        self._count = 0  # of the parameters that the optimizer had when it was last asked
        self._named: list[tuple[str, Any]] = []  # the search for names takes as long as a small step
        self._known: dict[int, Any] = {}
        self._complex: set[str] = set()
        if not self.parameters() and not self._complex:
            raise ValueError(
                "the optimizer must train parameters of the model, got none in common: prepare or wrap the model "
                "first, then make the optimizer, then attach"
            )

    def parameters(self) -> dict[int, Any]:
        """Each by its id."""
        optimizer = self._optimizer()
        groups = [] if optimizer is None else optimizer.param_groups
        count = sum(len(group["params"]) for group in groups)
        if count != self._count and groups:
            self._count = count
            trained = {id(parameter) for group in groups for parameter in group["params"]}
            common = [(name, parameter) for name, parameter in named_parameters(self.model) if id(parameter) in trained]
            self._named = [(name, parameter) for name, parameter in common if not parameter.is_complex()]
            self._known = {id(parameter): parameter for _, parameter in self._named}
            self._tell_complex({name for name, parameter in common if parameter.is_complex()})
        return self._known

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """(name, parameter) for each."""
        self.parameters()
        return iter(self._named)

    def modules(self) -> Iterable[Any]:
        """All modules of the model."""
        modules: Iterable[Any] = self.model.modules()
        return modules

    def clipped_with(self, parameters: Iterable[Any]) -> ClippedParameters:
        """How a clipping of these parameters relates to the selected ones."""
        measured = self.parameters()
        clipped = {id(parameter): parameter for parameter in parameters}
        more = sum(_has_gradient(parameter) for key, parameter in clipped.items() if key not in measured)
        fewer = sum(_has_gradient(parameter) for key, parameter in measured.items() if key not in clipped)
        concerns = any(_has_gradient(parameter) for key, parameter in clipped.items() if key in measured)
        return ClippedParameters(concerns, more, fewer)

    def _tell_complex(self, names: set[str]) -> None:
        if names - self._complex:
            listed = ", ".join(sorted(names - self._complex))
            self._complex |= names
            warnings.warn(f"gradients of complex parameters are not measured: {listed}", stacklevel=2)


class Leftover:
    """The gradients that a clipping or a step has left: none at first.

    Args:
        selected: whose gradients.
    """

    def __init__(self, selected: Selected) -> None:
        self._selected = selected
        self._state: list[Version] = []

    def look(self) -> None:
        """Remember them as they are now."""
        self._state = self._now()

    def is_there(self) -> bool:
        """Whether the gradients are those, as they were."""
        now = self._now()
        return 0 < len(now) == len(self._state) and all(map(is_same, self._state, now))  # FSDP1 may give this rank none

    def _now(self) -> list[Version]:
        return [version(p.grad) for p in self._selected.parameters().values() if p.grad is not None]


def _has_gradient(parameter: Any) -> bool:
    """Whether it has one on any rank: FSDP1 leaves it None where a rank holds nothing of it."""
    return parameter.grad is not None or (parameter.requires_grad and hasattr(parameter, "_fsdp_flattened"))
