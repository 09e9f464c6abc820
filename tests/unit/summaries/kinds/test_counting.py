"""Counting into TensorFlow's bins: when the compiled counter is loaded, and what it is fast for."""

from types import SimpleNamespace

import numpy as np
import pytest

from summaries.kinds import counting, tally
from summaries.kinds.tally import COUNTER
from summaries.native.calls import Call

LARGE = counting._LARGE


@pytest.fixture(autouse=True)
def counter(monkeypatch):
    """A counter that is not loaded, and is kept."""
    asked = []

    def will_be_called(*, may_compile):
        asked.append(may_compile)
        return True

    counter = SimpleNamespace(is_loaded=False, will_be_called=will_be_called, asked=asked)
    monkeypatch.setattr(counting, "COUNTER", counter)
    monkeypatch.setattr(counting, "_large_elements", 0)
    return counter


def test_it_is_loaded_once_several_elements_were_counted_in_large_arrays(monkeypatch, counter):
    monkeypatch.setattr(counting, "_SEVERAL", 2 * LARGE)
    sizes = (LARGE - 1, LARGE, LARGE, LARGE)
    assert [counting._is_loaded_now(size) for size in sizes] == [False, False, False, True]
    assert counter.asked == [False]


def test_it_is_compiled_once_many_were(monkeypatch, counter):
    monkeypatch.setattr(counting, "_MANY", counting._SEVERAL + 2 * LARGE)
    monkeypatch.setattr(counting, "_large_elements", counting._SEVERAL)
    for _ in range(3):
        counting._is_loaded_now(LARGE)
    assert counter.asked == [False, False, True]


def test_it_is_fast_for_floats(counter):
    several = {kind: np.ones(3, kind) for kind in ("f2", "f4", "f8", "i4", "?")}
    assert not any(counting.is_fast(array) for array in several.values())
    counter.is_loaded = True
    assert [kind for kind, array in several.items() if counting.is_fast(array)] == ["f2", "f4", "f8"]


def test_counting_with_it(monkeypatch):
    pytest.importorskip("numba", reason="the compiled counter needs the extra `fast`")
    monkeypatch.setattr(counting, "COUNTER", COUNTER)
    COUNTER.functions()
    array = np.arange(5.0)
    plain = counting.count(array)
    assert counting.is_fast(array)
    assert (plain.number, plain.total, plain.squares, plain.lowest, plain.highest) == (5, 10.0, 30.0, 0.0, 4.0)
    assert plain.counts.sum() == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_signal_counts_in_the_midst_of_counting(monkeypatch, dtype):
    pytest.importorskip("numba", reason="the compiled counter needs the extra `fast`")
    within, call = np.full(7, 3, dtype), Call.__call__
    others = []

    def interrupted(self):
        if not others:
            others.append(None)
            others[0] = tally.tally(within)
        return call(self)

    array = np.arange(5, dtype=dtype)
    COUNTER.functions()
    tally.tally(array)
    monkeypatch.setattr(Call, "__call__", interrupted)
    counts, total, *_ = tally.tally(array)
    assert (counts.sum(), total) == (5, 10.0)
    assert (others[0][0].sum(), others[0][1]) == (7, 21.0)


@pytest.mark.filterwarnings("error")
def test_a_nan_that_signals_is_a_nan():
    array = np.array([0x7F800001, 0x3F800000], np.uint32).view(np.float32)
    assert counting.count(array)[1:] == (1, 1.0, 1.0, 1.0, 1.0, False)
