"""Arrays ↔ TensorProto. Pure (no I/O).

Values are stored raw in `tensor_content`, or typed in a list; a list that is shorter than the shape is continued with
its last element. NumPy has no bfloat16, which becomes float32; float32 holds each of its values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.wire import pb
from summaries.wire.pb import TensorProto, TensorShapeProto

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["bfloat16_tensor", "decode_tensor", "numeric_tensor", "scalar_value", "string_tensor"]

_MAX_BYTES = 2**31 - 1  # protobuf's limit for a message: no writer can have written a larger tensor
_AROUND_BYTES = 1023  # room for the rest of the tensor's message


class _Type(NamedTuple):
    """A DataType in NumPy: the dtype's name, the dtype of `tensor_content`, the field of typed values."""

    name: str
    content: str
    field: str


_TYPES: dict[pb.DataType, _Type] = {
    pb.DT_DOUBLE: _Type("float64", "<f8", "double_val"),
    pb.DT_FLOAT: _Type("float32", "<f4", "float_val"),
    pb.DT_HALF: _Type("float16", "<f2", "half_val"),
    pb.DT_BFLOAT16: _Type("bfloat16", "<u2", "half_val"),
    pb.DT_COMPLEX64: _Type("complex64", "<c8", "scomplex_val"),
    pb.DT_COMPLEX128: _Type("complex128", "<c16", "dcomplex_val"),
    pb.DT_INT8: _Type("int8", "i1", "int_val"),
    pb.DT_INT16: _Type("int16", "<i2", "int_val"),
    pb.DT_INT32: _Type("int32", "<i4", "int_val"),
    pb.DT_INT64: _Type("int64", "<i8", "int64_val"),
    pb.DT_UINT8: _Type("uint8", "u1", "int_val"),
    pb.DT_UINT16: _Type("uint16", "<u2", "int_val"),
    pb.DT_UINT32: _Type("uint32", "<u4", "uint32_val"),
    pb.DT_UINT64: _Type("uint64", "<u8", "uint64_val"),
    pb.DT_BOOL: _Type("bool", "?", "bool_val"),
}
_BY_NAME = {kind.name: number for number, kind in _TYPES.items()}


def decode_tensor(tensor: TensorProto) -> NDArray[Any]:
    """The array of a tensor message; strings become an object array of bytes. It may be read-only.

    Raises:
        ValueError: the number of values does not fit the shape, or NumPy has no such type.

    >>> decode_tensor(pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1.5]))
    array(1.5, dtype=float32)
    """
    shape = tuple(dim.size for dim in tensor.tensor_shape.dim)
    if any(size < 0 for size in shape):
        raise ValueError(f"a tensor's shape must be known, got {shape}")
    if tensor.dtype == pb.DT_STRING:
        return _filled(np.array([*tensor.string_val, None], object)[:-1], shape)
    if tensor.dtype not in _TYPES:
        raise ValueError(f"tensor type {tensor.dtype} has no equivalent in NumPy")
    kind = _TYPES[tensor.dtype]
    dtype = np.dtype(kind.content)
    if tensor.tensor_content:
        flat = np.frombuffer(tensor.tensor_content, dtype)
    else:
        flat = _typed(getattr(tensor, kind.field), tensor.dtype, dtype)
    if tensor.dtype == pb.DT_BFLOAT16:
        flat = (flat.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return _filled(flat, shape)


def scalar_value(tensor: TensorProto) -> float | None:
    """The one number in a tensor of any rank, as a float; None unless it holds exactly one real number.

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
    if kind in (pb.DT_HALF, pb.DT_BFLOAT16):
        return _halves(wide, kind).view(dtype)
    return wide.astype(dtype)


def _halves(bits: NDArray[Any], kind: int) -> NDArray[np.uint16]:
    """The bits of 16-bit floats in a `half_val`, where torch's writer puts those of the same numbers as float32.

    These are told apart: as float32, none but 0 of these numbers has its upper half zero.
    """
    if np.all(bits >> 16 == 0):
        return bits.astype(np.uint16)
    wide = bits.astype(np.uint32)
    if kind == pb.DT_BFLOAT16:
        return (wide >> np.uint32(16)).astype(np.uint16)
    with np.errstate(over="ignore"):
        return wide.view(np.float32).astype(np.float16).view(np.uint16)


def _filled(flat: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The values in their shape; if there are too few, the last one is repeated."""
    count = math.prod(shape)
    if len(flat) == count:
        return flat.reshape(shape)
    if not 0 < len(flat) < count or count * flat.itemsize > _MAX_BYTES:
        raise ValueError(f"a tensor of shape {shape} must have {count} values, got {len(flat)}")
    if len(flat) == 1:
        return np.broadcast_to(flat.reshape(()), shape)
    return np.concatenate((flat, np.full(count - len(flat), flat[-1], flat.dtype))).reshape(shape)


def numeric_tensor(array: NDArray[Any]) -> TensorProto:
    """The TensorProto of an array; tensor_content holds its elements in C order, little-endian.

    Raises:
        TypeError: TensorFlow has no such dtype.
        ValueError: the array is 2 GB or more.
    """
    dtype = _BY_NAME.get(array.dtype.name)
    if dtype is None:
        raise TypeError(f"tensor must have one of the dtypes {', '.join(_BY_NAME)}, got {array.dtype}")
    if array.dtype.name == "bfloat16":
        return bfloat16_tensor(array.astype(np.float32))
    return _stored(dtype, array.astype(array.dtype.newbyteorder("<"), copy=False))


def bfloat16_tensor(array: NDArray[np.float32]) -> TensorProto:
    """The TensorProto, of type bfloat16, of an array of numbers that bfloat16 holds: their lower halves are zero.

    Raises:
        ValueError: the array is 2 GB or more.

    >>> decode_tensor(bfloat16_tensor(np.array([1.5, -2.0], np.float32))).tolist()
    [1.5, -2.0]
    """
    upper = np.ascontiguousarray(array, np.float32).view(np.uint32) >> np.uint32(16)
    return _stored(pb.DT_BFLOAT16, upper.astype("<u2").reshape(array.shape))


def _stored(dtype: pb.DataType, array: NDArray[Any]) -> TensorProto:
    if array.nbytes >= _MAX_BYTES - _AROUND_BYTES:
        raise ValueError(f"tensor must take less than 2 GB, got {array.nbytes} bytes")
    return TensorProto(dtype=dtype, tensor_shape=_shape(array.shape), tensor_content=array.tobytes())


def string_tensor(strings: Sequence[bytes], shape: Iterable[int]) -> TensorProto:
    """The TensorProto of strings."""
    return TensorProto(dtype=pb.DT_STRING, tensor_shape=_shape(shape), string_val=strings)


def _shape(shape: Iterable[int]) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])
