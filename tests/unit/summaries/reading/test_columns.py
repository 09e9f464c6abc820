"""Points by tag: none is lost while columns grow, and each lies in the epoch in which it was read."""

import pickle

import numpy as np
import pytest

from summaries.reading.columns import Epochs, LaterPoints, Points, sorted_rows
from summaries.wire.layout import ROW


def epochs_of(*numbers):
    return Epochs.of(np.array(numbers, np.int32))


def rows(tags, first=0):
    """Rows of these tags whose steps count up."""
    return np.array([(first + i, 0.5 * i, 2.0 * i, tag) for i, tag in enumerate(tags)], ROW)


@pytest.mark.parametrize(
    ("numbers", "ends"),
    [((), [(0, None)]), ((4, 4), [(2, None)]), ((0, 0, 1, 5), [(2, 1), (3, 5), (4, None)])],
    ids=["no points", "one epoch", "three epochs"],
)
def test_where_epochs_end_and_which_comes_next(numbers, ends):
    assert list(epochs_of(*numbers).ends()) == ends


def test_how_many_points_came_before_a_mark():
    assert [epochs_of(1, 1, 3).before(mark) for mark in range(5)] == [0, 2, 2, 3, 3]


def test_rows_sorted_by_tag_keep_their_order():
    block, tags, counts = sorted_rows(rows([2, 0, 2, 70_000, 0, 2]))
    assert (tags.tolist(), counts.tolist()) == ([0, 2, 70_000], [2, 3, 1])
    assert block.step.tolist() == [1, 4, 0, 2, 5, 3]
    assert block.value.tolist() == [2 * step for step in block.step]


def test_marks_are_numbered_in_order_and_divide_each_tags_points():
    points = Points()
    points.add(*sorted_rows(rows([1, 0, 1])))
    assert [points.mark(), points.mark()] == [0, 1]
    points.append(1, 9, 0.5, 7.0)
    assert points.columns()[1].step.tolist() == [0, 2, 9]
    assert list(points.epochs(1).ends()) == [(2, 2), (3, None)]
    assert list(points.epochs(0).ends()) == [(1, None)]
    assert list(points.epochs(5).ends()) == [(0, None)]


def test_columns_grow_from_one_point_into_mapped_memory():
    points, want = Points(), []
    for count in (1, 31, 1, 40, 32_700, 70_000):
        points.add(*sorted_rows(rows([0] * count, len(want))))
        points.append(0, -1, 0.25, 0.125)
        want += [*range(len(want), len(want) + count), -1]
    (block,) = points.columns()
    assert block.step.tolist() == want
    assert block.value[-1] == 0.125
    assert block.wall_time[-2] == 0.5 * 69_999


@pytest.mark.parametrize("counts", [(1, 1), (5, 70_000), (70_000, 5), (40_000, 40_000)])
@pytest.mark.parametrize("send", [False, True], ids=["here", "from another process"])
def test_points_of_a_later_part_follow(counts, send):
    """Tags have other numbers there; marks and epochs count on."""
    points, later = Points(), LaterPoints()
    points.add(*sorted_rows(rows([0] * counts[0])))
    points.mark()
    points.append(0, -1, 0.5, 0.25)
    later.append(1, -2, 0.5, 0.25)
    later.mark()
    later.add(*sorted_rows(rows([1] * counts[1])))
    if send:
        later = pickle.loads(pickle.dumps(later))  # noqa: S301 - it was just pickled
    points.absorb(later, [3, 0])
    (block,) = points.columns()
    assert block.step.tolist() == [*range(counts[0]), -1, -2, *range(counts[1])]
    assert block.value[-1] == 2.0 * (counts[1] - 1)
    assert list(points.epochs(0).ends()) == [(counts[0], 1), (counts[0] + 2, 2), (sum(counts) + 2, None)]
    assert points.marks == 2
    assert not later.blocks
