"""A tensor summary, and the TensorProto in it. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries.kinds.metadata import plugin_metadata
from summaries.values import as_array, check_tag
from summaries.wire.pb import Summary, TensorProto, TensorShapeProto, tensor_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["numeric_tensor", "string_tensor", "tensor"]

_MAX_BYTES = 2**31 - 1024  # protobuf's limit for a message, less room for what is around the tensor

_DTYPES = {
    "float64": tensor_pb2.DT_DOUBLE,
    "float32": tensor_pb2.DT_FLOAT,
    "float16": tensor_pb2.DT_HALF,
    "bfloat16": tensor_pb2.DT_BFLOAT16,
    "complex64": tensor_pb2.DT_COMPLEX64,
    "complex128": tensor_pb2.DT_COMPLEX128,
    "int8": tensor_pb2.DT_INT8,
    "int16": tensor_pb2.DT_INT16,
    "int32": tensor_pb2.DT_INT32,
    "int64": tensor_pb2.DT_INT64,
    "uint8": tensor_pb2.DT_UINT8,
    "uint16": tensor_pb2.DT_UINT16,
    "uint32": tensor_pb2.DT_UINT32,
    "uint64": tensor_pb2.DT_UINT64,
    "bool": tensor_pb2.DT_BOOL,
}


def tensor(tag: str, tensor: Any) -> Summary:
    """A Summary of one array, of any shape and of any number dtype, kept as it is.

    Args:
        tag: the tag.
        tensor: an array or tensor of any library.

    Raises:
        TypeError: the tag is no string, or the array holds no numbers.
        ValueError: the tag is empty, or the array is 2 GB or more.

    >>> tensor("weights", np.eye(2)).value[0].tensor.tensor_shape.dim[0].size
    2
    """
    check_tag(tag)
    value = Summary.Value(
        tag=tag, tensor=numeric_tensor(as_array(tensor, "tensor", "fiubc")), metadata=plugin_metadata("tensor")
    )
    return Summary(value=[value])


def numeric_tensor(array: NDArray[Any]) -> TensorProto:
    """The TensorProto of an array, its elements in C order and little-endian in tensor_content.

    Raises:
        TypeError: TensorFlow has no such dtype.
        ValueError: the array is 2 GB or more.
    """
    dtype = _DTYPES.get(array.dtype.name)
    if dtype is None:
        raise TypeError(f"tensor must have one of the dtypes {', '.join(_DTYPES)}, got {array.dtype}")
    if array.nbytes >= _MAX_BYTES:
        raise ValueError(f"tensor must take less than 2 GB, got {array.nbytes} bytes")
    little = array if array.dtype.name == "bfloat16" else array.astype(array.dtype.newbyteorder("<"), copy=False)
    return TensorProto(dtype=dtype, tensor_shape=_shape(array.shape), tensor_content=little.tobytes())


def string_tensor(strings: Sequence[bytes], shape: Iterable[int]) -> TensorProto:
    """The TensorProto of strings."""
    return TensorProto(dtype=tensor_pb2.DT_STRING, tensor_shape=_shape(shape), string_val=strings)


def _shape(shape: Iterable[int]) -> TensorShapeProto:
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in shape])
