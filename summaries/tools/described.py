"""One Summary.Value as a kind and plain values, which JSON can hold; what is large is shortened."""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.reading.kinds import kind_of
from summaries.reading.media import Audio, Images
from summaries.wire.layout import KINDS
from summaries.wire.pb import DATA_CLASS_SCALAR
from summaries.wire.tensors import scalar_value

if TYPE_CHECKING:
    from summaries.wire.pb import Summary

__all__ = ["described", "plain", "plain_number", "tensor_kind"]

_MOST = 6  # elements of an array that are told, unless all are wanted
_MOST_TEXT = 200  # characters of a text, likewise
_SCALAR = "scalar"


def tensor_kind(value: Summary.Value) -> str | None:
    """What metadata says that the tensors of a tag are: a plugin's name; None if the value has no metadata."""
    if not value.HasField("metadata"):
        return None
    metadata = value.metadata
    return "scalars" if metadata.data_class == DATA_CLASS_SCALAR else metadata.plugin_data.plugin_name


def described(value: Summary.Value, plugin: str = "", *, full: bool = False) -> dict[str, Any]:
    """Describe a value by what JSON can hold.

    Args:
        value: the value.
        plugin: what its tag's first metadata says; see `tensor_kind`.
        full: whether to tell arrays, texts, and the bytes of pictures and sounds (as base64) whole.

    Returns:
        "tag"; "kind": "scalar", "histogram", "image", "audio", "text", "tensor" or "none"; and what this kind has. A
        value that is not what its metadata says has an "error".

    >>> from summaries.wire.pb import Summary
    >>> described(Summary.Value(tag="loss", simple_value=0.5))
    {'tag': 'loss', 'kind': 'scalar', 'value': 0.5}
    """
    what = value.WhichOneof("value")
    if what is None:
        return {"tag": value.tag, "kind": "none"} | ({"plugin": plugin} if plugin else {})
    if what == "simple_value":
        return {"tag": value.tag, "kind": _SCALAR, "value": plain_number(value.simple_value)}
    if what == "tensor" and plugin == "scalars" and (number := scalar_value(value.tensor)) is not None:
        return {"tag": value.tag, "kind": _SCALAR, "value": plain_number(number)}
    kind = kind_of(value.tag, KINDS[what], plugin)
    try:
        decoded = kind.decode(value)
    except ValueError as error:
        return {"tag": value.tag, "kind": kind.shown_as, "error": str(error)}
    return {"tag": value.tag, "kind": kind.shown_as, **_details(kind.shown_as, decoded, full=full)}


def plain_number(value: float) -> float | str:
    """A number as JSON can hold it: one that is not finite becomes "nan", "inf" or "-inf"."""
    return value if math.isfinite(value) else str(value)


def plain(value: Any) -> Any:
    """A value as JSON can hold it: numbers that are not finite and other objects become texts, also in containers.

    >>> plain({"a": (1, math.nan), 0.5: b"x"})
    {'a': [1, 'nan'], '0.5': 'x'}
    """
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, complex):
        return [plain_number(value.real), plain_number(value.imag)]
    if isinstance(value, float):
        return plain_number(value)
    return value if value is None or isinstance(value, (int, str)) else str(value)


def _details(kind: str, decoded: Any, *, full: bool) -> dict[str, Any]:
    if isinstance(decoded, Images):
        return {"width": decoded.width, "height": decoded.height, **_encoded(decoded.encoded, full=full)}
    if isinstance(decoded, Audio):
        return {**_encoded(decoded.encoded, full=full), "labels": list(decoded.labels)}
    if kind == "histogram":
        return _histogram(decoded, full=full)
    if kind == "text":
        texts = [decoded] if isinstance(decoded, str) else [str(text) for text in decoded.flat]
        cut = texts if full else [text if len(text) <= _MOST_TEXT else text[:_MOST_TEXT] + "…" for text in texts]
        return {"text": cut[0]} if isinstance(decoded, str) else {"texts": cut}
    if isinstance(decoded, np.ndarray):
        return _array(decoded, full=full)
    return {}


def _encoded(parts: tuple[bytes, ...], *, full: bool) -> dict[str, Any]:
    sizes = {"bytes": [len(part) for part in parts]}
    return {**sizes, "base64": [base64.b64encode(part).decode() for part in parts]} if full else sizes


def _histogram(buckets: np.ndarray[Any, np.dtype[np.float64]], *, full: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {"count": plain_number(float(buckets[:, 2].sum())), "buckets": len(buckets)}
    if len(buckets):
        facts |= {"min": plain_number(float(buckets[0, 0])), "max": plain_number(float(buckets[-1, 1]))}
    if full:
        facts["value"] = plain(buckets.tolist())
    return facts


def _array(array: np.ndarray[Any, Any], *, full: bool) -> dict[str, Any]:
    shape = {"dtype": "string" if array.dtype == object else str(array.dtype), "shape": list(array.shape)}
    if full:
        return {**shape, "value": plain(array.tolist())}
    flat = array.reshape(-1)
    elements = plain(flat[:_MOST].tolist())
    return {**shape, "value": elements} | ({"left_out": array.size - _MOST} if array.size > _MOST else {})
