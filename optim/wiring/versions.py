"""Whether a gradient is still the same tensor, and as it was. It is asked of each gradient, several times a step."""

from __future__ import annotations

import weakref
from typing import Any

import torch

__all__ = ["Version", "is_same", "local_part", "version"]

Version = tuple["weakref.ref[Any]", int]
"""Which tensor it is, and how often it has been changed in place; a change by way of `data` is not counted."""


def version(tensor: Any) -> Version:
    """The version of a tensor now, which does not keep it alive.

    >>> import torch
    >>> gradient = torch.zeros(3)
    >>> before = version(gradient)
    >>> is_same(before, version(gradient)), is_same(before, version(gradient.mul_(2.0)))
    (True, False)
    """
    local = tensor if type(tensor) is torch.Tensor else local_part(tensor)  # what a tensor lacks is looked for long
    return weakref.ref(tensor), local._version  # noqa: SLF001 - torch documents it


def is_same(before: Version | None, now: Version | None) -> bool:
    """Whether nobody has changed a tensor, or put another in its place; of one tensor there is one weak reference."""
    return before is not None and now is not None and before[0] is now[0] and before[1] == now[1]


def local_part(tensor: Any) -> Any:
    """What is changed in place: of a DTensor, this rank's tensor."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
