"""TensorProto → array. Pure (no I/O).

Values stand raw in `tensor_content`, or typed in one list; a list that is shorter than the shape goes on with its
last element. bfloat16, for which NumPy has no type, becomes float32, which holds each of its values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.wire import pb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from summaries.wire.pb import TensorProto

__all__ = ["decode_tensor", "scalar_value"]

_MAX_BYTES = 2**31 - 1  # protobuf's limit for a message: a tensor that is larger was written by nobody

_TYPES: dict[int, tuple[str, str]] = {
    pb.DT_FLOAT: ("<f4", "float_val"),
    pb.DT_DOUBLE: ("<f8", "double_val"),
    pb.DT_INT8: ("i1", "int_val"),
    pb.DT_INT16: ("<i2", "int_val"),
    pb.DT_INT32: ("<i4", "int_val"),
    pb.DT_INT64: ("<i8", "int64_val"),
    pb.DT_UINT8: ("u1", "int_val"),
    pb.DT_UINT16: ("<u2", "int_val"),
    pb.DT_UINT32: ("<u4", "uint32_val"),
    pb.DT_UINT64: ("<u8", "uint64_val"),
    pb.DT_BOOL: ("?", "bool_val"),
    pb.DT_HALF: ("<f2", "half_val"),
    pb.DT_BFLOAT16: ("<u2", "half_val"),
    pb.DT_COMPLEX64: ("<c8", "scomplex_val"),
    pb.DT_COMPLEX128: ("<c16", "dcomplex_val"),
}
"""By DataType: the NumPy type of `tensor_content`, and the list of typed values."""


def decode_tensor(tensor: TensorProto) -> NDArray[Any]:
    """The array that a tensor message stands for; strings become an object array of bytes. It may be read-only.

    Raises:
        ValueError: shape and values do not belong together, or NumPy has no such type.

    >>> decode_tensor(pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1.5]))
    array(1.5, dtype=float32)
    """
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ValueError(f"a tensor's shape must be known, got {shape}")
    if tensor.dtype == pb.DT_STRING:
        return _filled(np.array([*tensor.string_val, None], object)[:-1], shape)
    if tensor.dtype not in _TYPES:
        raise ValueError(f"tensor type {tensor.dtype} has no equal in NumPy")
    name, field = _TYPES[tensor.dtype]
    dtype = np.dtype(name)
    if tensor.tensor_content:
        flat = np.frombuffer(tensor.tensor_content, dtype)
    else:
        flat = _typed(getattr(tensor, field), tensor.dtype, dtype)
    if tensor.dtype == pb.DT_BFLOAT16:
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _filled(flat, shape)


def scalar_value(tensor: TensorProto) -> float | None:
    """The one number in a tensor of any rank as a float; None where it has none, more than one, or no real number.

    >>> scalar_value(pb.TensorProto(dtype=pb.DT_INT64, int64_val=[3]))
    3.0
    """
    try:
        array = decode_tensor(tensor)
    except ValueError:
        return None
    return float(array.item()) if array.size == 1 and array.dtype.kind in "fiub" else None


def _typed(values: Any, kind: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    if kind in (pb.DT_COMPLEX64, pb.DT_COMPLEX128):
        if len(values) % 2:
            raise ValueError(f"complex values must come in pairs, got {len(values)} numbers")
        return np.array(values, np.float32 if kind == pb.DT_COMPLEX64 else np.float64).view(dtype)
    if dtype.kind in "fc" and kind != pb.DT_HALF:
        return np.array(values, dtype)
    wide = np.array(values, np.uint64 if kind == pb.DT_UINT64 else np.int64)
    return wide.astype(np.uint16).view(dtype) if kind == pb.DT_HALF else wide.astype(dtype)


def _filled(flat: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The values in their shape, the last one repeated where they are too few."""
    count = math.prod(shape)
    if len(flat) == count:
        return flat.reshape(shape)
    if len(flat) == 1:
        return np.broadcast_to(flat.reshape(()), shape)
    if not 0 < len(flat) < count or count * flat.itemsize > _MAX_BYTES:
        raise ValueError(f"a tensor of shape {shape} must have {count} values, got {len(flat)}")
    return np.concatenate((flat, np.full(count - len(flat), flat[-1], flat.dtype))).reshape(shape)
