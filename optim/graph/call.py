"""Call: the interface through which the tables of operations read a call and add nodes for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from optim.recording.calls import plain
from optim.recording.compositions import NO_VALUE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Call", "axes_of", "bound", "dtype_of"]


class Call(Protocol):
    """A call to be added to the graph."""

    function: Any
    args: Sequence[Any]  # boxes, arrays and numbers
    kwargs: dict[str, Any]
    value: Any  # its result

    def add(self, op: str, inputs: Sequence[str], *, like: Any = None, label: str = "", **attributes: Any) -> str:
        """Add an operation; return its output's name. Unless it is the last, `like` is like its output."""

    def input(self, value: Any, dtype: Any = None) -> str:
        """Return the name of an argument's tensor, cast to `dtype` if necessary; constants are added."""

    def constant(self, value: Any, label: str) -> str:
        """Add an int32 constant, a number or a list of numbers; return its name."""


def bound(names: str, call: Call) -> dict[str, Any] | None:
    """The arguments by name; None if there are others that matter."""
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
    """The dtype of an array, a number or a box's value."""
    return np.result_type(plain(value))
