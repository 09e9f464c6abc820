"""What the tables of operations know of a call, and may put into the graph for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from optim.recording.boxes import plain
from optim.recording.compositions import NO_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Call", "axes_of", "bound", "dtype_of"]


class Call(Protocol):
    """A call to be drawn."""

    function: Any
    args: Sequence[Any]  # boxes, arrays and numbers
    kwargs: dict[str, Any]
    value: Any  # what it gave

    def add(self, op: str, inputs: Sequence[str], *, like: Any = None, label: str = "", **attributes: Any) -> str:
        """Put in an operation; its output's name. `like`, of its output's dtype and shape, where it is not the last."""

    def input(self, value: Any, dtype: Any = None) -> str:
        """The name of an argument's tensor, cast to the dtype where it has another; constants are put in."""

    def constant(self, value: Any, label: str) -> str:
        """Put in a constant: a number or a list of numbers, integers as int32."""


def bound(names: str, call: Call) -> dict[str, Any] | None:
    """The arguments by name; None where there are others that matter."""
    found = dict(zip(names.split(), call.args, strict=False))
    extra = {k: v for k, v in call.kwargs.items() if k not in names.split()}
    if any(v is not None and v is not NO_VALUE for k, v in extra.items() if k not in ("dtype", "order", "copy")):
        return None
    return found | {k: v for k, v in call.kwargs.items() if k in names.split() and v is not NO_VALUE}


def axes_of(axis: Any, ndim: int) -> list[int]:
    """A reduction's axes, counted from 0."""
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    return [int(a) % ndim for a in axes] if ndim else []


def dtype_of(value: Any) -> Any:
    """The dtype of an array, a number or what a box holds."""
    return np.result_type(plain(value))
