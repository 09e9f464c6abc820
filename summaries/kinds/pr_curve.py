"""Precision-recall curves: how a binary classifier performs at every threshold. Pure (no I/O).

The tensor is [6, n]: true positives, false positives, true negatives, false negatives, precision, recall; column i
counts a prediction as positive if it is at least i / (n - 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.metadata import plugin_metadata
from summaries.kinds.odd_values import warn_odd
from summaries.values import as_array, as_count, check_tag
from summaries.wire.pb import PrCurvePluginData, Summary
from summaries.wire.tensors import numeric_tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["pr_curve", "pr_curve_raw"]

_MINIMUM_COUNT = 1e-7  # keeps 0 / 0 at 0, as TensorBoard's own summaries do


def pr_curve(tag: str, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Summary:
    """A Summary of a precision-recall curve.

    Args:
        tag: the tag.
        labels: array, any shape: 1 or True for positives, 0 or False for negatives; soft labels lie between.
        predictions: array of the same shape: probabilities from 0 to 1. Labels and predictions beyond are counted as
            the nearer end, and NaN is left out, each with a warning once per tag.
        num_thresholds: the number of thresholds, evenly spaced from 0 to 1; a single one is at 0.
        weights: array of the same shape, or one number: the weight of each prediction; 1 if None.

    Raises:
        TypeError: the tag is not a string, or an array is not numeric.
        ValueError: the tag is not Unicode text, the shapes differ, or there is no threshold.

    >>> curve = pr_curve("digits", [1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], num_thresholds=3)
    >>> np.frombuffer(curve.value[0].tensor.tensor_content, np.float32).reshape(6, 3)[0].tolist()
    [2.0, 1.0, 0.0]
    """
    check_tag(tag)
    num_thresholds = as_count(num_thresholds, "num_thresholds")
    truth = as_array(labels, "labels").astype(np.float64).reshape(-1)
    scores = as_array(predictions, "predictions").reshape(-1)
    if scores.dtype.kind != "f":
        scores = scores.astype(np.float64)  # the number of thresholds may not fit in a narrow integer
    if truth.shape != scores.shape:
        shapes = np.shape(labels), np.shape(predictions)
        raise ValueError(f"labels and predictions must have the same shape, got {shapes[0]} and {shapes[1]}")
    weight = np.asarray(1.0) if weights is None else as_array(weights, "weights").astype(np.float64)
    if weight.size not in (1, truth.size):
        raise ValueError(
            f"weights must be one number, or one for each of the {truth.size} predictions, got shape {weight.shape}"
        )
    weight = np.broadcast_to(weight.reshape(-1), truth.shape)
    numbers = _not_nan(tag, truth, scores)
    truth, scores, weight = truth[numbers], scores[numbers], weight[numbers]
    truth, scores = _within(tag, "labels", truth), _within(tag, "predictions", scores)
    bucket = np.floor(scores * (num_thresholds - 1)).astype(np.int64)
    positives = np.bincount(bucket, truth * weight, num_thresholds)
    negatives = np.bincount(bucket, (1 - truth) * weight, num_thresholds)
    tp, fp = (np.cumsum(counts[::-1])[::-1] for counts in (positives, negatives))
    tn, fn = fp[0] - fp, tp[0] - tp
    precision = tp / np.maximum(_MINIMUM_COUNT, tp + fp)
    recall = tp / np.maximum(_MINIMUM_COUNT, tp + fn)
    return _summary(tag, np.stack((tp, fp, tn, fn, precision, recall)), num_thresholds)


def pr_curve_raw(
    tag: str,
    true_positive_counts: Any,
    false_positive_counts: Any,
    true_negative_counts: Any,
    false_negative_counts: Any,
    precision: Any,
    recall: Any,
    num_thresholds: int = 127,
    weights: Any = None,
) -> Summary:
    """A Summary of a precision-recall curve whose six rows, each [n], were computed elsewhere.

    Args:
        tag: the tag.
        true_positive_counts: array [n], by threshold.
        false_positive_counts: array [n].
        true_negative_counts: array [n].
        false_negative_counts: array [n].
        precision: array [n], from 0 to 1.
        recall: array [n], from 0 to 1.
        num_thresholds: the most of the n columns to keep; 0 keeps all.
        weights: accepted for compatibility with torch; unused.

    Raises:
        TypeError: the tag is not a string, or an array is not numeric.
        ValueError: the tag is not Unicode text, or the six arrays differ in length.

    >>> curve = pr_curve_raw("digits", [2, 1], [2, 0], [0, 2], [0, 1], [0.5, 1], [1, 0.5])
    >>> [dim.size for dim in curve.value[0].tensor.tensor_shape.dim]
    [6, 2]
    """
    counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
    rows = [as_array(row).reshape(-1) for row in (*counts, precision, recall)]
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"the six arrays must have the same length, got lengths {[len(row) for row in rows]}")
    most = as_count(num_thresholds, "num_thresholds", least=0) or len(rows[0])
    return _summary(tag, np.stack(rows), min(most, len(rows[0])))


def _not_nan(tag: str, truth: NDArray[Any], scores: NDArray[Any]) -> NDArray[np.bool_]:
    """Where neither array is NaN, bool[n]."""
    numbers: NDArray[np.bool_] = ~(np.isnan(truth) | np.isnan(scores))
    if not numbers.all():
        warn_odd("PR curve", tag, "has NaN among its labels or predictions", "these are left out")
    return numbers


def _within(tag: str, name: str, values: NDArray[Any]) -> NDArray[Any]:
    """The values, those beyond 0 to 1 moved to the nearer end."""
    beyond = (values < 0) | (values > 1)
    if beyond.any():
        warn_odd("PR curve", tag, f"has {name} beyond 0 to 1", "these count as the nearer end", values[beyond][0])
    return values.clip(0, 1)


def _summary(tag: str, rows: NDArray[Any], num_thresholds: int) -> Summary:
    check_tag(tag)
    metadata = plugin_metadata("pr_curves", PrCurvePluginData(num_thresholds=num_thresholds).SerializeToString())
    tensor = numeric_tensor(rows.astype(np.float32))
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])
