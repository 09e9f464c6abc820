"""Converts users' values (Python, NumPy, torch, JAX, …) to what an event file stores. Pure (no I/O)."""

from __future__ import annotations

import math
import operator
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.foreign_arrays import NARROW, array_like, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "MAX_STEP",
    "MIN_STEP",
    "as_array",
    "as_count",
    "as_float",
    "as_step",
    "as_tag",
    "check_mapping",
    "check_tag",
    "warn",
]

MIN_STEP = -(2**63)
MAX_STEP = 2**63 - 1


def as_array(values: Any, name: str = "values", kinds: str = "fiub") -> NDArray[Any]:
    """Convert numbers to a NumPy array, without a copy if possible.

    Args:
        values: an array or tensor of any library, on any device, or nested sequences of numbers.
        name: the argument's name in error messages.
        kinds: the accepted kinds of dtype, in NumPy's letters.

    Returns:
        An array of real numbers or bool, or of the given `kinds`. bfloat16 and float8 become float32, which represents
        all of their values exactly. Where complex numbers are not among the kinds, only their real parts are left.

    Raises:
        TypeError: the dtype is of another kind; elements are masked, or stored elsewhere, as in a sharded DTensor or a
            meta tensor.
    """
    array = _host_array(values, name)
    if array.dtype.kind == "V" and array.dtype.name.startswith(NARROW):
        array = array.astype(np.float32)
    if array.dtype.kind == "c" and "c" not in kinds:
        # NumPy warns that this discards the imaginary parts, as in torch's writer.
        array = array.astype(array.real.dtype)
    if array.dtype.kind not in kinds:
        got = "None" if values is None else f"{type(values).__name__} of dtype {array.dtype}"
        raise TypeError(f"{name} must be an array of numbers, got {got}")
    return array


def _host_array(values: Any, name: str) -> NDArray[Any]:
    try:
        return array_like(values, name, widened=True)
    except ValueError:  # nested sequences of different lengths
        return np.asarray(values, object)


def as_tag(tag: Any) -> str:
    """Convert a tag to a string, as protobuf does for other writers: None becomes "", and bytes become text.

    Raises:
        TypeError: the tag is none of these.
        ValueError: the tag is not Unicode text.

    Warns:
        UserWarning: the tag is not a string, or is empty.
    """
    if tag is not None and not isinstance(tag, (str, bytes)):
        raise TypeError(f"tag must be a string, got {type(tag).__name__}: {tag!r}")
    try:
        text = tag.decode() if isinstance(tag, bytes) else tag or ""
        text.encode()
    except UnicodeError:
        raise ValueError(f"tag must be Unicode text without lone surrogates, got {tag!r}") from None
    if not isinstance(tag, str):
        warn(f"tag should be a string, got {type(tag).__name__}: logged as {text!r}")
    elif not tag:
        warn("tag should not be empty, got '': TensorBoard shows it without a name")
    return text


def check_tag(tag: Any) -> None:
    """Check that a tag can be logged. Raises and warns as `as_tag` does."""
    as_tag(tag)


def as_float(value: Any, name: str = "scalar_value") -> float:
    """Convert one number to a float.

    Args:
        value: a Python or NumPy number, or an array or tensor of one element, of any library and on any device. A
            string or bytes that Python's float() takes, and a list of one number, are converted with a warning.
        name: the argument's name in error messages.

    Raises:
        TypeError: the value is not a number, or is a DTensor sharded across ranks.
        ValueError: the value does not have exactly one element.

    Warns:
        UserWarning: the value is a string, bytes, or a list.

    >>> import numpy as np
    >>> as_float(np.float16(1.5)), as_float(np.array([[2]]))
    (1.5, 2.0)
    """
    if isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, np.timedelta64):
        return _float(value)
    shape = getattr(value, "shape", ())
    if shape != () and any(n != 1 for n in shape):
        raise ValueError(f"{name} must be one number, got an array of shape {tuple(shape)}")
    value = whole(value, name)
    try:
        if not _is_time(value) and not np.ma.is_masked(value):  # their item() may be a number
            number = value.item() if hasattr(value, "item") else value
            if isinstance(number, (list, tuple)) and len(number) == 1:
                number = as_float(number[0], name)
            converted = _float(number)
            if isinstance(value, (list, tuple)) or isinstance(number, (str, bytes, bytearray)):
                warn(f"{name} should be a number, got {type(value).__name__}: it is converted with float()")
            return converted
    except (TypeError, ValueError, RuntimeError):
        pass
    what = repr(value) if isinstance(value, (str, bytes)) else f"{type(value).__name__}: {value!r}"
    raise TypeError(f"{name} must be a number, got {what}")


def _is_time(value: Any) -> bool:
    return isinstance(value, (np.generic, np.ndarray)) and value.dtype.kind in "mM"


def _float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an int beyond float64
        return math.inf if number > 0 else -math.inf


def as_step(step: Any, name: str = "global_step") -> int:
    """Convert a step to an int; None is step 0.

    Args:
        step: None, an int, or another integer value: a NumPy integer, a tensor of one integer, 3.0. Anything else that
            Python's int() takes is converted with a warning: 2.7 becomes 2, and "3" becomes 3.
        name: the argument's name in error messages.

    Raises:
        TypeError: the step is not a number.
        ValueError: the step does not fit in a signed 64-bit integer.

    Warns:
        UserWarning: the step is not an integer.
    """
    if step is None:
        return 0
    number = _as_int(step)
    if number is None:
        number = _truncated(step, name)
    if not MIN_STEP <= number <= MAX_STEP:
        raise ValueError(f"{name} must fit in a signed 64-bit integer, got {number}")
    return number


def _truncated(step: Any, name: str) -> int:
    kind = type(step).__name__
    try:
        number = int(step)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise TypeError(f"{name} must be an integer or None, got {kind}: {step!r}") from None
    warn(f"{name} should be an integer, got {kind}: it is converted with int()")
    return number


def _as_int(step: Any) -> int | None:
    try:
        number = step.item() if hasattr(step, "item") else step
        if isinstance(number, float):
            return int(number) if number.is_integer() else None
        return operator.index(number)
    except (TypeError, ValueError, RuntimeError):
        return None


def as_count(value: Any, name: str, least: int = 1, most: int | None = None) -> int:
    """Convert a count to an int.

    Args:
        value: an int, or another integer value, as in `as_step`.
        name: the argument's name in error messages.
        least: the smallest valid count.
        most: the largest valid count; None if there is no limit.

    Raises:
        TypeError: the value is not an integer.
        ValueError: the value is too small or too large.
    """
    number = _as_int(value)
    if number is None:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}: {value!r}")
    if number < least:
        raise ValueError(f"{name} must be {'positive' if least == 1 else f'at least {least}'}, got {number}")
    if most is not None and number > most:
        raise ValueError(f"{name} must be at most {most}, got {number}")
    return number


def check_mapping(value: Any, name: str) -> None:
    """Check that an argument is a mapping.

    Raises:
        TypeError: it has no `items` method.
    """
    if not hasattr(value, "items"):
        raise TypeError(f"{name} must be a dictionary, got {type(value).__name__}: {value!r}")


def warn(message: str) -> None:
    """Warn of an odd value that is logged nevertheless. Python shows it once for each line outside of this package."""
    frame = sys._getframe(1)  # noqa: SLF001 - as logging finds its caller
    level = 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


_PACKAGE = os.path.dirname(__file__) + os.sep
