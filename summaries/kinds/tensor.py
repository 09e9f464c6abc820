"""Tensor summaries: one array, kept as it is. Pure (no I/O)."""

from __future__ import annotations

from typing import Any

from summaries.kinds.metadata import plugin_metadata
from summaries.values import as_array, check_tag
from summaries.wire.pb import Summary
from summaries.wire.tensors import numeric_tensor

__all__ = ["tensor"]


def tensor(tag: str, tensor: Any) -> Summary:
    """A Summary of one array of any shape and any numeric dtype, kept as it is.

    Args:
        tag: the tag.
        tensor: an array or tensor of any library.

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is empty, or the array is 2 GB or more.

    >>> tensor("weights", np.eye(2)).value[0].tensor.tensor_shape.dim[0].size
    2
    """
    check_tag(tag)
    value = Summary.Value(
        tag=tag, tensor=numeric_tensor(as_array(tensor, "tensor", "fiubc")), metadata=plugin_metadata("tensor")
    )
    return Summary(value=[value])
