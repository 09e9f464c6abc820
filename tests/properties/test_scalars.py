"""The fast encoding of scalars skips work, and has no second meaning."""

import numpy as np
import pytest
from event_data.records import steps, tags
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries.wire import pb
from summaries.wire.pb import Event
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES
from summaries.wire.scalars import ScalarEncoder, double_summary, encode_scalar, encode_summary_event
from summaries.wire.tensors import decode_tensor

examples = settings(max_examples=150, deadline=None)


@st.composite
def columns(draw):
    """A few tags, and points of them: (tag, step, wall time, value), the last two any float64."""
    names = draw(st.lists(st.one_of(tags(), st.sampled_from(["a", "b", "cc"])), min_size=1, max_size=5, unique=True))
    row = st.tuples(st.sampled_from(names), steps(), st.floats(), st.floats())
    rows = draw(st.lists(row, min_size=1, max_size=30))
    return rows * draw(st.sampled_from([1, 2, 40]))  # often enough of one shape to be encoded in bulk


def double(tag, step, wall_time, value):
    return encode_summary_event(double_summary(tag.encode(), value), step, wall_time)


@pytest.mark.parametrize("plainly", [encode_scalar, double])
@examples
@given(rows=columns())
def test_fast_is_plain(plainly, rows):
    encoder = ScalarEncoder(double=plainly is double)
    names, steps_, wall_times, values = zip(*rows, strict=True)
    numbers = {name: encoder.register(name) for name in dict.fromkeys(names)}
    data, offsets = encoder.encode(
        np.array([numbers[name] for name in names]), np.array(steps_, np.int64), np.array(wall_times), np.array(values)
    )
    plain = [plainly(*row) for row in rows]
    assert bytes(data) == b"".join(plain)
    assert np.diff(offsets).tolist() == [len(record) for record in plain]


@examples
@given(st.floats())
def test_a_double_is_the_tensor_that_protobuf_makes(number):
    (value,) = Event.FromString(double("a", 3, 1.0, number)[HEADER_BYTES:-FOOTER_BYTES]).summary.value
    assert (value.metadata.plugin_data.plugin_name, value.tensor.dtype) == ("scalars", pb.DT_DOUBLE)
    np.testing.assert_array_equal(decode_tensor(value.tensor), number)
