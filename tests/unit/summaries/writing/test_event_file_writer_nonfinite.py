"""Warnings of values that float32 cannot hold: once per tag, in words that say what is written."""

import math
import warnings

import pytest

from summaries.writing.event_file_writer import NonFiniteWarning, NonFiniteWarnings

CHECKED = [
    (math.nan, False, "got nan at step 7: written as nan"),
    (-math.inf, False, "got -inf at step 7: written as -inf"),
    (1e39, False, "got 1e+39 at step 7: written as inf"),
    (math.inf, True, "got inf at step 7: written as inf"),
    (1e39, True, None),
    (3e38, False, None),
    (0.0, False, None),
]


@pytest.mark.parametrize(("got", "double", "text"), CHECKED)
def test_check(got, double, text):
    warned = NonFiniteWarnings()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            warned.check("loss", got, 7, double_precision=double)
        warned.check("other", got, 7, double_precision=double)
    want = [f"tag {tag!r} {text}; warned once per tag" for tag in ("loss", "other")] if text else []
    assert [str(one.message) for one in caught] == want


def test_no_step_is_step_0():
    with pytest.warns(NonFiniteWarning, match=r"^tag 'loss' got nan at step 0: written as nan; warned once per tag$"):
        NonFiniteWarnings().warn("loss", math.nan, None, math.nan)
