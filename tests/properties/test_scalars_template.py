"""A fast path is no second meaning: a filled template is the Summary that protobuf would have made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import ScalarsTemplate, Summary

TAGS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
VALUES = st.floats(width=32) | st.floats() | st.sampled_from([1e300, -1e300, np.inf, np.nan, 1e-45])


@given(pairs=st.lists(st.tuples(TAGS, VALUES), max_size=30))
def test_filled(pairs):
    tags, values = [tag for tag, _ in pairs], np.array([value for _, value in pairs], np.float64)
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    wanted = Summary(value=[Summary.Value(tag=t, simple_value=float(v)) for t, v in zip(tags, narrow, strict=True)])
    template = ScalarsTemplate(tags)
    for _ in range(2):
        assert template.filled(values) == wanted.SerializeToString()


def test_refused():
    template = ScalarsTemplate(["a", "b"])
    with pytest.raises(ValueError, match=r"^values must contain one value for each of 2 tags, got shape \(1,\)$"):
        template.filled([1.0])
    with pytest.raises(TypeError, match=r"^tag must be a string, got int: 5$"):
        ScalarsTemplate(["a", 5])
