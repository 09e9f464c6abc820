"""PR curves: the counts at each threshold, and what is refused, word for word."""

import numpy as np
import pytest

import summaries

HALF = [0.5, 0.5]
REFUSED = {
    "labels without predictions": (
        summaries.pr_curve,
        ("a", [1], HALF),
        ValueError,
        "labels and predictions must have the same shape, got (1,) and (2,)",
    ),
    "no threshold": (
        summaries.pr_curve,
        ("a", [1, 0], HALF, 0),
        ValueError,
        "num_thresholds must be positive, got 0",
    ),
    "weights for others": (
        summaries.pr_curve,
        ("a", [1, 0], HALF, 3, [1.0, 2.0, 3.0]),
        ValueError,
        "weights must be one number, or one for each of the 2 predictions, got shape (3,)",
    ),
    "six arrays of two lengths": (
        summaries.pr_curve_raw,
        ("a", [1], [1], [1], [1], [1], HALF),
        ValueError,
        "the six arrays must have the same length, got lengths [1, 1, 1, 1, 1, 2]",
    ),
    "a broken number of thresholds": (
        summaries.pr_curve,
        ("a", [0, 1], HALF, 2.5),
        TypeError,
        "num_thresholds must be an integer, got float: 2.5",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def test_a_perfect_classifier():
    curve = summaries.pr_curve("p", [1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], 5, [1.0, 2.0, 1.0, 1.0]).value[0].tensor
    tp, fp, tn, fn, precision, recall = np.frombuffer(curve.tensor_content, np.float32).reshape(6, 5)
    assert tp.tolist() == [3] * 5
    assert fp.tolist() == [2, 0, 0, 0, 0]
    assert (tn + fp).tolist() == [2] * 5
    assert (fn.tolist(), recall.tolist()) == ([0] * 5, [1] * 5)
    assert precision.tolist() == pytest.approx([0.6, 1, 1, 1, 1])


def rows(tag, labels, predictions, num_thresholds=5):
    curve = summaries.pr_curve(tag, labels, predictions, num_thresholds).value[0].tensor
    return np.frombuffer(curve.tensor_content, np.float32).reshape(6, num_thresholds).tolist()


# tag → (labels, predictions, what is logged instead, the warning)
ODD = {
    "high": (
        [1, 0, 1],
        [0.5, 0.2, 1.5],
        ([1, 0, 1], [0.5, 0.2, 1.0]),
        "PR curve 'high' has predictions beyond 0 to 1, such as 1.5: these count as the nearer end",
    ),
    "endless": (
        [1, 0],
        [np.inf, -np.inf],
        ([1, 0], [1.0, 0.0]),
        "PR curve 'endless' has predictions beyond 0 to 1, such as inf: these count as the nearer end",
    ),
    "classes": (
        [0, 2, 1],
        [0.5, 0.5, 0.1],
        ([0, 1, 1], [0.5, 0.5, 0.1]),
        "PR curve 'classes' has labels beyond 0 to 1, such as 2.0: these count as the nearer end",
    ),
    "unknown": (
        [1, np.nan, 0],
        [0.5, 0.5, np.nan],
        ([1], [0.5]),
        "PR curve 'unknown' has NaN among its labels or predictions: these are left out",
    ),
}


@pytest.mark.parametrize("tag", ODD)
def test_odd_values_are_logged_as_the_nearest_with_a_warning(tag):
    labels, predictions, meant, text = ODD[tag]
    with pytest.warns(UserWarning, match=f"^{text}; warned once per tag$"):
        got = rows(tag, labels, predictions)
    assert got == rows("as meant", *meant)


def test_one_threshold_counts_everything_as_positive():
    assert rows("a", [1, 1, 0], [0.9, 0.1, 0.5], 1) == [[2], [1], [0], [0], [pytest.approx(2 / 3)], [1]]


def test_no_number_of_thresholds_keeps_every_column():
    curve = summaries.pr_curve_raw("a", *[[1, 2, 3]] * 6, num_thresholds=0).value[0]
    assert [dim.size for dim in curve.tensor.tensor_shape.dim] == [6, 3]


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.int64])
def test_predictions_that_are_decided(dtype):
    labels, predictions = np.array([1, 0, 1, 0]), np.array([1, 0, 0, 1])
    assert rows("a", labels, predictions.astype(dtype), 500) == rows("a", labels, predictions.astype(float), 500)
