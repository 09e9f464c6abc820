"""Arrays of any library → NumPy arrays, without a copy if the memory can be shared.

What is foreign, and how it is read, is decided here, for both packages. Nothing here imports torch or JAX: their arrays
are recognized by their methods.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["NARROW", "array_like", "library_of", "to_numpy", "whole"]

NARROW = ("bfloat16", "float8")
"""Prefixes of the names of the dtypes that ml_dtypes adds to NumPy."""


_libraries: dict[type, str] = {}


def library_of(kind: type) -> str:
    """The library of a type of array: "torch", "DTensor" if ranks may hold parts of it, "jax", or "" for all others.

    >>> library_of(np.ndarray)
    ''
    """
    try:
        return _libraries[kind]
    except KeyError:
        _libraries[kind] = _library_of(kind)
        return _libraries[kind]


def _library_of(kind: type) -> str:
    if hasattr(kind, "detach") and hasattr(kind, "cpu"):
        return "DTensor" if hasattr(kind, "full_tensor") else "torch"
    return "jax" if hasattr(kind, "addressable_shards") else ""


def to_numpy(tensor: Any, name: str = "an array", *, widened: bool = False) -> NDArray[Any] | None:
    """Convert a tensor to a NumPy array; return None if it is not an array of any library.

    Args:
        tensor: a NumPy array; or an array of torch, JAX or any library that has `__array__` or `__dlpack__`; or a
            buffer of numbers, such as array.array. A torch tensor may require gradients, be on any device, be sparse,
            or have a dtype that only ml_dtypes adds to NumPy.
        name: the argument's name in error messages.
        widened: whether a torch tensor of such a dtype becomes float32, which does not need ml_dtypes.

    Raises:
        TypeError: elements are masked, or stored elsewhere, as in a sharded DTensor or a meta tensor.
        ImportError: the tensor is a bfloat16 or float8 torch tensor, and ml_dtypes is not installed.

    >>> import array
    >>> to_numpy(array.array("f", [1.0, 2.0]))
    array([1., 2.], dtype=float32)
    """
    if type(tensor) is np.ndarray:
        return tensor
    if isinstance(tensor, np.ndarray):
        return _unmasked(tensor, name)
    if hasattr(tensor, "detach") and hasattr(tensor, "cpu"):
        return _from_torch(whole(tensor, name), name, widened=widened)
    if hasattr(tensor, "__array__"):
        return np.asarray(tensor)
    if hasattr(tensor, "__dlpack__"):
        return _from_dlpack(tensor, name)
    if isinstance(tensor, str | bytes | bytearray):
        return None
    try:
        return np.asarray(memoryview(tensor))
    except TypeError:
        return None


def array_like(values: Any, name: str = "an array", *, widened: bool = False) -> NDArray[Any]:
    """Like `to_numpy`, but also converts numbers and nested sequences of numbers.

    Raises:
        TypeError, ImportError: as for `to_numpy`.
        ValueError: nested sequences have different lengths.
    """
    array = to_numpy(values, name, widened=widened)
    return np.asarray(values) if array is None else array


def whole(tensor: Any, name: str) -> Any:
    """The tensor itself; for a replicated DTensor its local tensor, which is complete.

    Raises:
        TypeError: the tensor is a DTensor sharded across ranks.
    """
    if not hasattr(tensor, "full_tensor"):
        return tensor
    if all(placement.is_replicate() for placement in tensor.placements):
        return tensor.to_local()
    raise TypeError(
        f"{name} must be a whole tensor, got a DTensor of which this rank holds only a part: pass its full_tensor(), "
        "or its to_local() if the part is enough"
    )


def _unmasked(array: NDArray[Any], name: str) -> NDArray[Any]:
    masked = sys.modules.get("numpy.ma")  # NumPy imports it on first use
    if masked is not None and masked.is_masked(array):
        raise TypeError(f"{name} must not be masked: compressed() drops masked elements, filled() replaces them")
    return np.asarray(array)  # for np.matrix, a view that can have any number of dimensions


def _from_torch(tensor: Any, name: str, *, widened: bool) -> NDArray[Any]:
    tensor = tensor.detach()
    try:
        array: NDArray[Any] = tensor.numpy()
    except (TypeError, RuntimeError):  # on another device, sparse, conjugated, or of a dtype that NumPy lacks
        try:
            array = _host_numpy(tensor.cpu().to_dense().resolve_conj().resolve_neg(), widened=widened)
        except (TypeError, RuntimeError) as error:
            raise _unreadable(tensor, name, error) from None
    return array


def _host_numpy(tensor: Any, *, widened: bool) -> NDArray[Any]:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if not dtype.startswith(NARROW):
        array: NDArray[Any] = tensor.numpy()
    elif widened:
        array = tensor.float().numpy()
    else:  # torch cannot convert it to NumPy; its bits are those of the dtype of the same name in ml_dtypes
        bits = {1: "uint8", 2: "int16"}[tensor.itemsize]
        array = tensor.view(getattr(sys.modules["torch"], bits)).numpy().view(_ml_dtype(dtype))
    return array


def _from_dlpack(tensor: Any, name: str) -> NDArray[Any]:
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError, TypeError) as error:
        raise _unreadable(tensor, name, error) from None


def _unreadable(tensor: Any, name: str, error: Exception) -> TypeError:
    reason = str(error).partition("\n")[0].rstrip(".")
    return TypeError(f"{name} must be a tensor whose elements NumPy can read, got {type(tensor).__name__}: {reason}")


def _ml_dtype(name: str) -> np.dtype[Any]:
    """The dtype of this name in ml_dtypes, which NumPy knows only after ml_dtypes has been imported.

    Raises:
        ImportError: ml_dtypes is not installed.
    """
    try:
        import ml_dtypes  # noqa: PLC0415 - optional, needed only for such tensors
    except ImportError:
        raise ImportError(f"{name} tensors need ml_dtypes: pip install ml_dtypes") from None
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype
