"""The fast encoding of scalars skips work, and has no second meaning."""

import numpy as np
from event_data.records import steps, tags
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries.wire.scalars import ScalarEncoder, encode_scalar

examples = settings(max_examples=150, deadline=None)


@st.composite
def columns(draw):
    """A few tags, and points of them: (tag, step, wall time, value), the last two any float64."""
    names = draw(st.lists(st.one_of(tags(), st.sampled_from(["a", "b", "cc"])), min_size=1, max_size=5, unique=True))
    row = st.tuples(st.sampled_from(names), steps(), st.floats(), st.floats())
    rows = draw(st.lists(row, min_size=1, max_size=30))
    return rows * draw(st.sampled_from([1, 2, 40]))  # often enough of one shape to be encoded in bulk


@examples
@given(columns())
def test_fast_is_plain(rows):
    encoder = ScalarEncoder()
    names, steps_, wall_times, values = zip(*rows, strict=True)
    numbers = {name: encoder.register(name) for name in dict.fromkeys(names)}
    data, offsets = encoder.encode(
        np.array([numbers[name] for name in names]), np.array(steps_, np.int64), np.array(wall_times), np.array(values)
    )
    plain = [encode_scalar(*row) for row in rows]
    assert bytes(data) == b"".join(plain)
    assert np.diff(offsets).tolist() == [len(record) for record in plain]
