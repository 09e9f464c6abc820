"""Large histograms: of the values as they were in the call, in memory that is used again."""

import numpy as np
import pytest

from summaries import Event, histogram
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES
from summaries.writing.large_histograms import LargeHistograms

VALUES = np.random.default_rng(0).normal(size=1000)


def event(deferred):
    return Event.FromString(deferred.record()[HEADER_BYTES:-FOOTER_BYTES])


@pytest.mark.parametrize("bins", ["tensorflow", 7])
def test_the_values_are_those_of_the_call(bins):
    array = VALUES.copy()
    deferred, size = LargeHistograms(1 << 20).deferred("h", array, bins, 5, 3, 2.5)
    array[:] = 0
    got = event(deferred)
    assert (got.step, got.wall_time, size) == (3, 2.5, VALUES.nbytes)
    assert got.summary == histogram("h", VALUES, bins, 5)


@pytest.mark.parametrize(("most", "again"), [(VALUES.nbytes, True), (VALUES.nbytes - 1, False)])
def test_memory_is_used_again_up_to_a_bound(most, again):
    large = LargeHistograms(most)
    first, _ = large.deferred("h", VALUES, "tensorflow", None, 1, 1.0)
    first.record()
    assert len(large._spare) == again
    second, _ = large.deferred("h", VALUES + 1, "tensorflow", None, 2, 1.0)
    assert len(large._spare) == 0
    assert event(second).summary == histogram("h", VALUES + 1)
    assert event(first).summary == histogram("h", VALUES)


@pytest.mark.parametrize("other", [VALUES[:10], VALUES.astype(np.float32), VALUES.astype(">f8")])
def test_memory_of_another_size_or_dtype_is_not(other):
    large = LargeHistograms(1 << 20)
    large.deferred("h", VALUES, "tensorflow", None, 1, 1.0)[0].record()
    deferred, size = large.deferred("h", other, "tensorflow", None, 2, 1.0)
    assert size == other.nbytes
    assert event(deferred).summary == histogram("h", other)


def test_clear_lets_go():
    large = LargeHistograms(1 << 20)
    large.deferred("h", VALUES, "tensorflow", None, 1, 1.0)[0].record()
    large.clear()
    assert len(large._spare) == 0


def test_bad_bins_are_told_in_the_call():
    with pytest.raises(ValueError, match=r"^bins must be positive, got 0$"):
        LargeHistograms(1).deferred("h", VALUES, 0, None, 1, 1.0)


def test_an_error_while_counting_says_which_histogram_is_missing():
    deferred, _ = LargeHistograms(1).deferred("h", VALUES.astype(object), "tensorflow", None, 7, 1.0)
    with pytest.raises(TypeError, match="must be an array of numbers") as raised:
        deferred.record()
    assert raised.value.__notes__ == [
        "histogram 'h' of step 7 could not be counted in the background and is not logged"
    ]
