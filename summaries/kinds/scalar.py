"""Scalar summaries: one number under a tag, and a template for tags logged at every step. Pure (no I/O)."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.metadata import plugin_metadata
from summaries.kinds.odd_values import warn_odd
from summaries.values import as_array, as_float, as_tag, check_tag
from summaries.wire.pb import Summary
from summaries.wire.protobuf import OurBytes
from summaries.wire.scalars import scalar_summary
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

__all__ = ["ScalarsTemplate", "scalar", "zero_fraction"]


def scalar(
    tag: str,
    scalar_value: Any,
    *,
    new_style: bool = False,
    double_precision: bool = False,
    display_name: str = "",
    summary_description: str = "",
) -> Summary:
    """A Summary of one number.

    Args:
        tag: the tag.
        scalar_value: one number of any type.
        new_style: store a rank-0 tensor instead of a simple_value.
        double_precision: with `new_style`, store it as float64. TensorBoard's fast loader does not show these: a
            warning says so once per tag. Without `new_style`, it is ignored, as torch does.
        display_name: shown instead of the tag.
        summary_description: Markdown, shown next to the chart.

    Raises:
        TypeError: the tag is not a string, or the value is not a number.
        ValueError: the tag is not Unicode text, or the value has several elements.

    >>> scalar("loss", 0.5).value[0].simple_value
    0.5
    """
    check_tag(tag)
    value = Summary.Value(tag=tag)
    number = as_float(scalar_value)
    if new_style:
        with np.errstate(over="ignore"):
            array = np.asarray(number, np.float64 if double_precision else np.float32)
        if double_precision:
            hidden = "TensorBoard shows it only with --load_fast=false"
            warn_odd("scalar", tag, "is stored with double precision", hidden)
        value.tensor.CopyFrom(numeric_tensor(array))
    else:
        value.simple_value = number
    if value.HasField("tensor") or display_name or summary_description:
        metadata = plugin_metadata("scalars", b"", display_name, summary_description, "DATA_CLASS_SCALAR")
        value.metadata.CopyFrom(metadata)
    return Summary(value=[value])


def zero_fraction(tag: str, values: Any) -> Summary:
    """A Summary of the share of elements that are zero: how sparse an activation or a gradient is.

    Args:
        tag: the tag.
        values: an array, any shape; the share of an empty one is NaN.

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is not Unicode text.

    >>> zero_fraction("relu", [0.0, 1.0, 0.0, 2.0]).value[0].simple_value
    0.5
    """
    array = as_array(values)
    fraction = 1 - np.count_nonzero(array) / array.size if array.size else np.nan
    return scalar(tag, fraction)


class ScalarsTemplate:
    """The Summary of tags that stay the same at every step: built once; then only the values are filled in.

    A Summary of 500 values takes a millisecond to build and serialize; this takes about ten microseconds.

    Args:
        tags: the tags.

    Raises:
        TypeError: a tag is not a string.
        ValueError: a tag is not Unicode text.

    >>> template = ScalarsTemplate(["loss", "rate"])
    >>> [(value.tag, value.simple_value) for value in Summary.FromString(template.filled([0.5, 2.0])).value]
    [('loss', 0.5), ('rate', 2.0)]
    """

    def __init__(self, tags: Iterable[str]) -> None:
        values = [scalar_summary(as_tag(tag).encode(), 0.0) for tag in tags]
        self._bytes = b"".join(values)
        self._offsets = np.fromiter(accumulate(map(len, values)), np.int64, len(values)) - _VALUE_BYTES

    def filled(self, values: ArrayLike) -> bytes:
        """The Summary's bytes, as `add_summary` takes them.

        Args:
            values: floating[n], one for each tag; rounded to float32, and infinite where that is too narrow.

        Raises:
            ValueError: the number of values is not that of the tags.
        """
        with np.errstate(over="ignore"):
            narrow = np.asarray(values).astype("<f4")
        if narrow.shape != self._offsets.shape:
            raise ValueError(
                f"values must contain one value for each of {len(self._offsets)} tags, got shape {narrow.shape}"
            )
        data = bytearray(self._bytes)
        if len(narrow):
            # Every byte is the start of one overlapping item of four, which NumPy copies as a whole.
            items = np.ndarray((len(data) - _VALUE_BYTES + 1,), f"V{_VALUE_BYTES}", data, strides=(1,))
            items[self._offsets] = narrow.view(f"V{_VALUE_BYTES}")
        return OurBytes(data)


_VALUE_BYTES = 4  # a float32
