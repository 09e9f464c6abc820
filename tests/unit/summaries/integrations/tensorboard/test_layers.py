"""Layers over steps: which statistics there are, and cells beside the plainest way to compute them."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import SummaryWriter, read_run
from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of
from summaries.integrations.tensorboard.layers import cells, extent, kinds, matrix
from summaries.reading.series import Series

values = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([math.nan, math.inf, -math.inf]))
points = st.lists(st.tuples(st.integers(-50, 50), values), min_size=1, max_size=40).map(
    lambda found: sorted(found, key=lambda one: one[0])
)


def series(found):
    step, value = zip(*found, strict=True)
    return Series("a", np.array(step, np.int64), np.zeros(len(step)), np.array(value))


def plain(one, edges):
    """Each cell by itself: the largest value there, else the last one before it, unless the series has ended."""
    row = []
    for at, (low, high) in enumerate(pairwise(edges)):
        last = at == len(edges) - 2
        inside = [v for s, v in zip(one.step, one.value, strict=True) if low <= s < high or (last and s == high)]
        before = [v for s, v in zip(one.step, one.value, strict=True) if s < low]
        if inside:
            row.append(math.inf if not np.isfinite(inside).all() else max(inside))
        elif before and low <= one.step[-1]:
            row.append(before[-1] if math.isfinite(before[-1]) else math.inf)
        else:
            row.append(math.nan)
    return row


@given(points, st.floats(-60, 60), st.floats(0.5, 120), st.integers(1, 20))
def test_cells_are_what_a_loop_finds(found, low, size, width):
    edges = np.linspace(low, low + size, width + 1)
    one = series(found)
    assert np.array_equal(cells(one, edges), plain(one, edges), equal_nan=True)


def test_one_odd_value_does_not_spoil_its_neighbours():
    one = series([(0, 1.0), (1, math.nan), (2, 3.0), (3, -math.inf), (4, 5.0)])
    assert cells(one, np.arange(6.0)).tolist() == [1.0, math.inf, 3.0, math.inf, 5.0]


def test_steps_beyond_all_bounds():
    one = series([(-(2**63), 1.0), (2**63 - 1, 2.0)])
    assert cells(one, np.array([-1e30, 0.0, 1e30])).tolist() == [1.0, 2.0]


@pytest.fixture
def signals(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(10):
            for layer, name in enumerate(("input", "z_middle", "a_output")):
                writer.add_scalar(f"gradients/norm/{name}", layer + step, step)
                writer.add_scalar(f"slots/m/norm/{name}", 1, step)
                writer.add_scalar(f"slots/v/norm/{name}", 2, step)
            writer.add_scalar("train/loss", 1, step)
    return signals_of("a", read_run(tmp_path), Config())


def test_kinds(signals):
    found = kinds(signals)
    assert [(kind.key, kind.title, kind.log) for kind in found] == [
        ("gradient_norm", "Gradient norm", True),
        ("slot_norm/m", "Slot m: norm", True),
        ("slot_norm/v", "Slot v: norm", True),
    ]
    assert [signal.meaning.variable for signal in found[0].rows] == ["input", "z_middle", "a_output"]  # network order


def test_a_matrix(signals):
    rows = kinds(signals)[0].rows
    assert extent(rows) == (0, 9)
    assert matrix(rows, 0, 9, 3).tolist() == [[2, 5, 9], [3, 6, 10], [4, 7, 11]]
    assert matrix(rows, 3, 4, 1).tolist() == [[4], [5], [6]]
