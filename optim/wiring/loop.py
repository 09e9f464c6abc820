"""What is known of a training loop: its model, its optimizer and their parameters, looked at again when they change."""

from __future__ import annotations

import gc
import operator
import weakref
from itertools import chain
from typing import TYPE_CHECKING, Any

from optim.telemetry.trees import named_parameters
from optim.wiring.arrivals import Arrivals
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ALL_LOOKED_AT", "Loop", "alive", "among", "rates", "sampled"]

_TRAINABLE = operator.attrgetter("requires_grad")
ALL_LOOKED_AT = 16  # steps at the beginning; later every so many


class Loop:
    """A loop that trains a model by an optimizer.

    Attributes:
        model: the module.
        steps: how many steps have been seen, the one that is being made included.
        step: the number of that step, as it is logged.
        sharded: whether a rank holds parts of parameters: their values are then not looked at.
        compiled: whether the model has been compiled: its modules are then not listened to.
        closure: whether that step computes its gradients itself.
        names: of the model's parameters, by their ids; also of those that it had earlier.
        parameters: those that the model has now, by their ids.
        stepped: those in the optimizer's groups, by their ids.
        modules: all modules of the model.
        changed: whether any of these differ from those at the step before.
        arrivals: the gradients that came since the last step.
        scaled: whether a GradScaler has been seen.
    """

    def __init__(self, model: Any, optimizer: Any) -> None:
        self.model = model
        self._optimizer = weakref.ref(optimizer)
        self.steps = self.step = 0
        self.closure = self.scaled = False
        self.names: dict[int, str] = {}
        self.arrivals: Arrivals = Arrivals()
        self._grouped: list[Any] = []  # what the groups had when all was looked at, and so on
        self._held: list[Any] = []
        self._trainable: list[bool] = []
        self.parameters: dict[int, Any] = {}
        self._tables: list[dict[str, Any]] = []  # of each module, its parameters and its children
        self.look(anew=True)

    @property
    def optimizer(self) -> Any:
        """The optimizer; while it steps, it is there."""
        return self._optimizer()

    def look(self, *, anew: bool = False) -> None:
        """Look whether anything has changed, and at all of it if so, or if `anew`.

        At a step that is not sampled, what modules have is not looked at: there are many of them.
        """
        self.changed: bool = (
            anew
            or not _are_same(self._grouped, list(self._in_groups()))
            or self._trainable != self._now_trainable()
            or (sampled(self) and not _are_same(self._held, self._now_held()))
        )
        if not self.changed:
            return
        self.modules: list[Any] = list(self.model.modules())
        self._tables = [table for module in self.modules for table in (module._parameters, module._modules)]  # noqa: SLF001 - torch's own wrappers read them
        named = named_parameters(self.model)
        self.parameters = {id(parameter): parameter for _, parameter in named}
        self.names.update((id(parameter), name) for name, parameter in named)
        self.stepped: dict[int, Any] = {id(parameter): parameter for parameter in self._in_groups()}
        self.sharded: bool = any(
            hasattr(p, "to_local") or "_fsdp_flattened" in p.__dict__ for p in self.stepped.values()
        )
        self.compiled: bool = any(hasattr(m, "_orig_mod") or m._compiled_call_impl is not None for m in self.modules)  # noqa: SLF001 - torch has no other word for it
        self._grouped, self._held, self._trainable = list(self._in_groups()), self._now_held(), self._now_trainable()

    def _now_held(self) -> list[Any]:
        """The parameters and modules that each module has."""
        return list(chain.from_iterable(table.values() for table in self._tables))

    def _now_trainable(self) -> list[bool]:
        return list(map(_TRAINABLE, self.parameters.values()))

    def _in_groups(self) -> Iterable[Any]:
        return chain.from_iterable(group["params"] for group in self.optimizer.param_groups)

    def with_gradients(self) -> list[Any]:
        """The parameters that the step will change."""
        return [parameter for parameter in self.stepped.values() if parameter.grad is not None]

    def named(self, parameters: Iterable[Any]) -> tuple[str, ...]:
        """Their names in the model; of those that it does not have, their shapes."""
        return tuple(
            self.names.get(id(parameter)) or f"one of shape {tuple(parameter.shape)}" for parameter in parameters
        )


def _are_same(some: list[Any], others: list[Any]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


def rates(loop: Loop) -> list[float]:
    """The learning rate of each group."""
    return [float(group.get("lr", 1.0)) for group in loop.optimizer.param_groups]


def sampled(loop: Loop) -> bool:
    """Whether this step is one of those at which values are looked at."""
    return loop.steps <= ALL_LOOKED_AT or loop.steps % ALL_LOOKED_AT == 0


def alive(kind: type) -> list[Any]:
    """All objects of a class that there are: it takes as long as there are objects, so it is asked once or twice."""
    return [found for found in gc.get_objects() if issubclass(type(found), kind)]


def among(names: tuple[str, ...]) -> str:
    """Names as messages have them, with their verb."""
    return f"{listed(names)} {'is' if len(names) == 1 else 'are'}"
