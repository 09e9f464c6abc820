"""Whatever a library calls an array → a NumPy array, without a copy where its memory can be shared."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["as_array"]


def as_array(tensor: Any) -> NDArray[Any] | None:
    """The tensor as a NumPy array; None where it is nothing of the kind.

    Args:
        tensor: a NumPy array; or an array of torch, JAX or any library that has `__array__` or `__dlpack__`; or a
            buffer of numbers, as array.array is. A torch tensor may require gradients, and may be bfloat16.

    Raises:
        TypeError: elements of it are masked.

    >>> import array
    >>> as_array(array.array("f", [1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    if isinstance(tensor, np.ndarray):
        masked = sys.modules.get("numpy.ma")  # which NumPy imports when it is first needed
        if masked is not None and type(tensor) is not np.ndarray and masked.is_masked(tensor):
            raise TypeError("an array must have all its elements, got a masked one: fill it, as by array.filled(0)")
        return np.asarray(tensor)  # of a np.matrix, a view that has any number of dimensions
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(tensor, torch.Tensor):
        return _from_torch(torch, tensor)
    if hasattr(tensor, "__array__"):
        return np.asarray(tensor)
    if hasattr(tensor, "__dlpack__"):
        return np.from_dlpack(tensor)
    if isinstance(tensor, str | bytes | bytearray):
        return None
    try:
        return np.asarray(memoryview(tensor))
    except TypeError:
        return None


def _from_torch(torch: Any, tensor: Any) -> NDArray[Any]:
    tensor = tensor.detach()
    if tensor.dtype == torch.bfloat16:  # torch has no NumPy array of it; its bits are those of ml_dtypes' bfloat16
        array: NDArray[Any] = tensor.view(torch.int16).numpy().view(_bfloat16())
        return array
    return np.asarray(tensor)


def _bfloat16() -> np.dtype[Any]:
    """ml_dtypes', which NumPy knows by name only once it has been imported.

    Raises:
        ImportError: ml_dtypes is not installed.
    """
    try:
        import ml_dtypes  # noqa: PLC0415 - who has no bfloat16 needs no ml_dtypes
    except ImportError:
        raise ImportError("bfloat16 tensors need ml_dtypes: pip install ml_dtypes") from None
    dtype: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return dtype
