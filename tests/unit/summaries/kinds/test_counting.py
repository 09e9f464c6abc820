"""Counting into TensorFlow's bins: when the compiled counter is loaded, and what it is fast for."""

import sys

import numpy as np
import pytest

from summaries.kinds import counting

LARGE = counting._LARGE


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(counting, "_ready", set())
    monkeypatch.setattr(counting, "_large_elements", 0)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    monkeypatch.setattr(counting, "find_spec", lambda _: True)


def test_it_is_loaded_at_once_for_large_arrays_if_numba_is(monkeypatch):
    assert not counting._is_worth_loading(LARGE)
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert counting._is_worth_loading(LARGE)
    assert not counting._is_worth_loading(LARGE - 1)


def test_else_once_many_elements_were_counted_in_large_arrays(monkeypatch):
    monkeypatch.setattr(counting, "_MANY", 2 * LARGE)
    assert [counting._is_worth_loading(size) for size in (LARGE - 1, LARGE, LARGE, LARGE)] == [
        False,
        False,
        False,
        True,
    ]
    monkeypatch.setattr(counting, "find_spec", lambda _: None)
    assert not counting._is_worth_loading(LARGE)


def test_it_is_fast_for_floats_of_the_dtypes_for_which_it_is_loaded(monkeypatch):
    several = {kind: np.ones(3, kind) for kind in ("f2", "f4", "f8", "i4", "?")}
    assert not any(counting.is_fast(array) for array in several.values())
    monkeypatch.setattr(counting, "_ready", {np.dtype(np.float32)})
    assert [kind for kind, array in several.items() if counting.is_fast(array)] == ["f2", "f4"]


def test_counting_loads_it(monkeypatch):
    pytest.importorskip("numba", reason="the compiled counter needs the extra `fast`")
    monkeypatch.setattr(counting, "_is_worth_loading", lambda _: True)
    array = np.arange(5.0)
    plain = counting.count(array)
    assert counting.is_fast(array)
    assert (plain.number, plain.total, plain.squares, plain.lowest, plain.highest) == (5, 10.0, 30.0, 0.0, 4.0)
    assert plain.counts.sum() == 5
