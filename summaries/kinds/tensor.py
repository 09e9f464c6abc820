"""Tensor summaries: one array, kept as it is. Pure (no I/O)."""

from __future__ import annotations

from typing import Any

from summaries.kinds.metadata import plugin_metadata
from summaries.values import as_array, check_tag
from summaries.wire.pb import Summary
from summaries.wire.tensors import bfloat16_tensor, numeric_tensor

__all__ = ["tensor"]


def tensor(tag: str, tensor: Any) -> Summary:
    """A Summary of one array of any shape and any numeric dtype, kept as it is, bfloat16 included.

    Args:
        tag: the tag.
        tensor: an array or tensor of any library.

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is not Unicode text, or the array is 2 GB or more.

    >>> tensor("weights", np.eye(2)).value[0].tensor.tensor_shape.dim[0].size
    2
    """
    check_tag(tag)
    array = as_array(tensor, "tensor", "fiubc")  # bfloat16 becomes float32
    message = bfloat16_tensor(array) if _is_bfloat16(tensor) else numeric_tensor(array)
    return Summary(value=[Summary.Value(tag=tag, tensor=message, metadata=plugin_metadata("tensor"))])


def _is_bfloat16(tensor: Any) -> bool:
    """Whether the dtype is bfloat16: torch's, TensorFlow's, or ml_dtypes', which JAX has too."""
    dtype = getattr(tensor, "dtype", None)
    return str(getattr(dtype, "name", dtype)).removeprefix("torch.") == "bfloat16"
