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
    "predictions beyond 1": (
        summaries.pr_curve,
        ("a", [1, 0], [0.5, 1.5]),
        ValueError,
        "predictions must be from 0 to 1, got 1.5",
    ),
    "a prediction that is no number": (
        summaries.pr_curve,
        ("a", [1, 0], [0.5, np.nan]),
        ValueError,
        "predictions must be from 0 to 1, got nan",
    ),
    "one threshold": (
        summaries.pr_curve,
        ("a", [1, 0], HALF, 1),
        ValueError,
        "num_thresholds must be at least 2, got 1",
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
    "labels that are classes": (
        summaries.pr_curve,
        ("a", [0, 2], HALF),
        ValueError,
        "labels must be from 0 to 1, got 2.0",
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
