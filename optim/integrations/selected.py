"""The parameters of a model that one optimizer trains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optim.telemetry.trees import named_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Selected"]


class Selected:
    """A model reduced to the parameters of an optimizer, for GradientMonitor: names from the one, choice by the other.

    Args:
        model: the module.
        optimizer: a torch optimizer.

    Raises:
        ValueError: the model has none of the optimizer's parameters.
    """

    def __init__(self, model: Any, optimizer: Any) -> None:
        self.model = model
        self.ids = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
        if not any(True for _ in self.named_parameters()):
            raise ValueError(
                "the optimizer must train parameters of the model, got none in common: prepare or wrap the model "
                "first, then make the optimizer, then attach"
            )

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """(name, parameter) for each."""
        named = named_parameters(self.model)
        return ((name, parameter) for name, parameter in named if id(parameter) in self.ids)

    def modules(self) -> Iterable[Any]:
        """All modules of the model."""
        modules: Iterable[Any] = self.model.modules()
        return modules

    def clipped_with(self, parameters: Iterable[Any]) -> str:
        """How a clipping of these parameters relates to the selected ones: "none", "some", "all", or "all and more"."""
        given = {id(parameter): parameter for parameter in parameters}
        if not self.ids & set(given):
            return "none"
        if not self.ids <= set(given):
            return "some"
        more = any(parameter.grad is not None for key, parameter in given.items() if key not in self.ids)
        return "all and more" if more else "all"
