"""Counting into TensorFlow's bins: what may happen in the midst of it, and odd numbers."""

import numpy as np
import pytest

from summaries.kinds import counting, tally
from summaries.native import library
from summaries.native.calls import Call


@pytest.mark.skipif(not library.is_available(), reason="there is no compiled code for this machine")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_signal_counts_in_the_midst_of_counting(monkeypatch, dtype):
    within, call = np.full(7, 3, dtype), Call.__call__
    sums, outer = np.empty((1, 2)), np.empty((1, 2))
    others = []

    def interrupted(self):
        if not others:
            others.append(None)
            others[0] = *tally.tally(within, sums), sums[0, 0]
        return call(self)

    array = np.arange(5, dtype=dtype)
    tally.tally(array, outer)
    monkeypatch.setattr(Call, "__call__", interrupted)
    assert tally.tally(array, outer)[0].sum() == 5
    assert (others[0][0].sum(), *others[0][1:]) == (7, 3.0, 3.0, 21.0)
    assert outer.tolist() == [[10.0, 30.0]]


@pytest.mark.parametrize("path", ["plain", None])
@pytest.mark.parametrize(("dtype", "bits"), [("f2", 0x7C01), ("f4", 0x7F800001), ("f8", 0x7FF0000000000001)])
def test_a_nan_that_signals_is_a_nan(path, dtype, bits):
    one = int(np.ones(1, dtype).view(f"u{dtype[1]}")[0])
    array = np.array([bits, one], f"u{dtype[1]}").view(dtype)
    library.use(path)
    try:
        assert counting.count(array)[1:] == (1, 1.0, 1.0, 1.0, 1.0, False)
    finally:
        library.use(None)
