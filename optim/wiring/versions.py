"""Whether a gradient is still the same tensor, and as it was."""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["Version", "local_part"]


class Version:
    """Which tensor it is, and how often it has been changed in place. Two are equal while nobody has changed it.

    A change by way of `data` is not counted.

    Args:
        tensor: the tensor, which is not kept alive.

    >>> import torch
    >>> gradient = torch.zeros(3)
    >>> before = Version(gradient)
    >>> before == Version(gradient), before == Version(gradient.mul_(2.0))
    (True, False)
    """

    __slots__ = ("changes", "tensor")
    __hash__ = None  # type: ignore[assignment]  # it may be told of a change

    def __init__(self, tensor: Any) -> None:
        self.tensor = weakref.ref(tensor)
        self.changes: int = local_part(tensor)._version  # noqa: SLF001 - torch documents it

    def __eq__(self, other: object) -> bool:
        """Whether it was the same tensor, and as often changed."""
        if not isinstance(other, Version):
            return NotImplemented
        tensor = self.tensor()
        return tensor is not None and tensor is other.tensor() and self.changes == other.changes


def local_part(tensor: Any) -> Any:
    """What is changed in place: of a DTensor, this rank's tensor."""
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
