"""Values as people have them (Python, NumPy, torch, JAX, …), turned into what an event file holds. Pure (no I/O).

Nothing here imports torch or JAX: what they give is recognised by what it can do.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

__all__ = ["FLOAT32_MAX", "MAX_STEP", "MIN_STEP", "as_float", "as_step", "check_tag"]

FLOAT32_MAX = 3.4028234663852886e38
MIN_STEP = -(2**63)
MAX_STEP = 2**63 - 1


def check_tag(tag: Any) -> None:
    """Refuse what is no tag.

    Raises:
        TypeError: it is no string.
        ValueError: it is empty, or no Unicode text.
    """
    if not isinstance(tag, str):
        raise TypeError(f"tag must be a string, got {type(tag).__name__}: {tag!r}")
    if not tag:
        raise ValueError("tag must not be empty, got ''")
    try:
        tag.encode()
    except UnicodeEncodeError:
        raise ValueError(f"tag must be Unicode text without lone surrogates, got {tag!r}") from None


def as_float(value: Any, name: str = "scalar_value") -> float:
    """One number as a float.

    Args:
        value: a Python or NumPy number, or an array or tensor of one element, of any library and on any device.
        name: what to call it in an error.

    Raises:
        TypeError: it is no number.
        ValueError: it has more or fewer elements than one.

    >>> import numpy as np
    >>> as_float(np.float16(1.5)), as_float(np.array([[2]]))
    (1.5, 2.0)
    """
    if isinstance(value, (int, float, np.floating, np.integer)):
        return _float(value)
    shape = getattr(value, "shape", ())
    if shape != () and any(n != 1 for n in shape):
        raise ValueError(f"{name} must be one number, got an array of shape {tuple(shape)}")
    if isinstance(value, (str, bytes, bytearray)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        return _float(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}: {value!r}") from None


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an int beyond float64
        return math.inf if number > 0 else -math.inf


def as_step(step: Any, name: str = "global_step") -> int:
    """A step as an int; None is step 0.

    Args:
        step: None, an int, or whatever stands for one: a NumPy integer, a tensor of one integer, 3.0.
        name: what to call it in an error.

    Raises:
        TypeError: it is no integer.
        ValueError: it does not fit in a signed 64-bit integer.
    """
    if step is None:
        return 0
    number = _as_int(step)
    if number is None:
        raise TypeError(f"{name} must be an integer or None, got {type(step).__name__}: {step!r}")
    if not MIN_STEP <= number <= MAX_STEP:
        raise ValueError(f"{name} must fit in a signed 64-bit integer, got {number}")
    return number


def _as_int(step: Any) -> int | None:
    try:
        return operator.index(step)
    except TypeError:
        pass
    if isinstance(step, (str, bytes, bytearray)):
        return None
    try:
        number = as_float(step)
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() else None
