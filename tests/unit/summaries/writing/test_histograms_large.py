"""Large histograms: of the values as they were in the call."""

import numpy as np
import pytest

from summaries import Event, histogram
from summaries.kinds.distribution import distribution
from summaries.kinds.histogram import histogram_bytes
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES
from summaries.wire.scalars import encode_summary_event
from summaries.writing.histograms import deferred_histogram

VALUES = np.random.default_rng(0).normal(size=1000)


@pytest.mark.parametrize("bins", ["tensorflow", 7])
@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4"])
def test_the_values_are_those_of_the_call(bins, dtype):
    array = VALUES.astype(dtype)
    deferred, size = deferred_histogram("h", array, bins, 5, 3, 2.5)
    array[:] = 0
    event = Event.FromString(deferred.record()[HEADER_BYTES:-FOOTER_BYTES])
    assert (event.step, event.wall_time, size) == (3, 2.5, array.nbytes)
    assert event.summary == histogram("h", VALUES.astype(dtype), bins, 5)


@pytest.mark.parametrize("bins", ["tensorflow", 7])
def test_the_bytes_are_those_of_a_histogram_that_is_counted_at_once(bins):
    """Of moments that are 0, too, which protobuf would leave out."""
    array = np.arange(1000.0)
    deferred, _ = deferred_histogram("h", array, bins, None, 3, 2.5)
    at_once = histogram_bytes("h", distribution(array, bins))
    assert (
        deferred.record()[HEADER_BYTES:-FOOTER_BYTES]
        == encode_summary_event(at_once, 3, 2.5)[HEADER_BYTES:-FOOTER_BYTES]
    )


def test_bad_bins_are_refused_in_the_call():
    with pytest.raises(ValueError, match=r"^bins must be positive, got 0$"):
        deferred_histogram("h", VALUES, 0, None, 1, 1.0)


def test_an_error_while_counting_says_which_histogram_is_missing(monkeypatch):
    def fail(*_arguments):
        raise MemoryError

    deferred, _ = deferred_histogram("h", VALUES, "tensorflow", None, 7, 1.0)
    monkeypatch.setattr("summaries.kinds.distribution.distribution", fail)
    with pytest.raises(MemoryError) as raised:
        deferred.record()
    assert raised.value.__notes__ == [
        "histogram 'h' of step 7 could not be counted in the background and is not logged"
    ]
