"""Differences between two observations: plain values, lists, dictionaries and arrays, compared to the leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["differences"]

RELATIVE = 1e-6  # sums of float64 in another order; stored float32 differ by less than one part in 10 million, or not
ABSOLUTE = 1e-9


def differences(ours: Any, original: Any, where: str = "") -> list[str]:
    """One line for each leaf that differs; an empty list if the two are alike."""
    if isinstance(ours, dict) and isinstance(original, dict):
        return _of_dicts(ours, original, where)
    if isinstance(ours, (list, tuple)) and isinstance(original, (list, tuple)):
        return _of_lists(ours, original, where)
    if isinstance(ours, np.ndarray) and isinstance(original, np.ndarray):
        return _of_arrays(ours, original, where)
    return [] if _alike(ours, original) else [f"{where}: ours {ours!r:.300}, the original's {original!r:.300}"]


def _of_dicts(ours: dict[Any, Any], original: dict[Any, Any], where: str) -> list[str]:
    found = [f"{where}[{key!r}]: only ours, {value!r:.200}" for key, value in ours.items() if key not in original]
    found += [
        f"{where}[{key!r}]: only the original's, {value!r:.200}" for key, value in original.items() if key not in ours
    ]
    for key, value in ours.items():
        if key in original:
            found += differences(value, original[key], f"{where}[{key!r}]")
    return found


def _of_lists(ours: Any, original: Any, where: str) -> list[str]:
    if len(ours) != len(original):
        return [f"{where}: ours has {len(ours)}, the original {len(original)}: {ours!r:.300} | {original!r:.300}"]
    pairs = enumerate(zip(ours, original, strict=True))
    return [line for index, (mine, other) in pairs for line in differences(mine, other, f"{where}[{index}]")]


def _of_arrays(ours: np.ndarray, original: np.ndarray, where: str) -> list[str]:
    if (ours.shape, ours.dtype) != (original.shape, original.dtype):
        return [f"{where}: ours {ours.dtype}{ours.shape}, the original's {original.dtype}{original.shape}"]
    if ours.dtype.kind in "fc":
        equal = np.isclose(ours, original, RELATIVE, ABSOLUTE, equal_nan=True)
    else:
        equal = ours == original
    if np.all(equal):
        return []
    at = np.argwhere(~np.atleast_1d(equal))[0]
    one, other = (np.atleast_1d(array)[tuple(at)] for array in (ours, original))
    return [f"{where}: {np.sum(~equal)} of {equal.size} elements differ, first at {at}: ours {one}, {other}"]


def _alike(ours: Any, original: Any) -> bool:
    if {type(ours), type(original)} <= {int, float}:
        close = math.isclose(ours, original, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        return close or (math.isnan(ours) and math.isnan(original))
    return type(ours) is type(original) and bool(ours == original)
