"""Points by tag: none is lost while columns grow, and each lies in the epoch in which it was read."""

import threading
import time

import numpy as np
import pytest
from engines import ENGINES, needs_compiled, using

from summaries import read_run
from summaries.execution import sharing
from summaries.reading import columns
from summaries.reading.columns import Epochs, ScalarColumns
from summaries.wire.layout import KIND_IMAGE, VALUE
from summaries.wire.scalars import encode_scalar


def epochs_of(*numbers):
    return Epochs.of(np.array(numbers, np.int32))


def rows(tags, first=0):
    """Rows of these tags whose steps count up."""
    return np.array([(2.0 * i, first + i, 0.5 * i, i, tag, 0, 0, 0) for i, tag in enumerate(tags)], VALUE)


@pytest.mark.parametrize(
    ("numbers", "ends"),
    [((), [(0, None)]), ((4, 4), [(2, None)]), ((0, 0, 1, 5), [(2, 1), (3, 5), (4, None)])],
    ids=["no points", "one epoch", "three epochs"],
)
def test_where_epochs_end_and_which_comes_next(numbers, ends):
    assert list(epochs_of(*numbers).ends()) == ends


def test_how_many_points_came_before_a_mark():
    assert [epochs_of(1, 1, 3).before(mark) for mark in range(5)] == [0, 2, 2, 3, 3]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("times", [1, 10, 20_000])
def test_rows_keep_their_order_and_only_scalars_are_points(engine, times):
    added = rows([2, 0, 2, 700, 0, 2] * times)
    added["kind"][::6] = KIND_IMAGE
    with using(engine):
        points = ScalarColumns()
    points.add(added, 701)
    is_scalar = np.arange(6 * times) % 6 > 0
    for tag, block in enumerate(points.columns()):
        steps = np.flatnonzero(is_scalar & (added["tag"] == tag))
        np.testing.assert_array_equal(block.step, steps)
        np.testing.assert_array_equal(block.value, 2 * steps)
        np.testing.assert_array_equal(block.wall_time, 0.5 * steps)


def test_marks_are_numbered_in_order_and_divide_each_tags_points():
    points = ScalarColumns()
    points.add(rows([1, 0, 1]), 2)
    assert [points.mark(), points.mark()] == [0, 1]
    points.append(1, 9, 0.5, 7.0)
    assert points.columns()[1].step.tolist() == [0, 2, 9]
    assert list(points.epochs(1).ends()) == [(2, 2), (3, None)]
    assert list(points.epochs(0).ends()) == [(1, None)]
    assert list(points.epochs(5).ends()) == [(0, None)]


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_grow_from_one_point_into_mapped_memory(engine):
    with using(engine):
        points, want = ScalarColumns(), []
    for count in (1, 31, 1, 40, 32_700, 70_000):
        points.add(rows([0] * count, len(want)), 1)
        points.append(0, -1, 0.25, 0.125)
        want += [*range(len(want), len(want) + count), -1]
    (block,) = points.columns()
    assert block.step.tolist() == want
    assert block.value[-1] == 0.125
    assert block.wall_time[-2] == 0.5 * 69_999


@needs_compiled
@pytest.mark.parametrize("ask", [ScalarColumns.mark, ScalarColumns.columns, lambda points: points.epochs(0)])
def test_whatever_is_asked_waits_for_the_rows_that_another_thread_adds(ask, monkeypatch):
    scatter = columns.scatter
    monkeypatch.setattr(columns, "scatter", lambda *arguments: time.sleep(0.02) or scatter(*arguments))
    points = ScalarColumns()
    points.add(rows([0] * 10_000), 1, lasts=True)
    ask(points)
    assert points.epochs(0).length == 10_000


@needs_compiled
def test_an_error_in_the_other_thread_is_raised_once(monkeypatch):
    points = ScalarColumns()
    with monkeypatch.context() as patch:
        patch.setattr(ScalarColumns, "_grow", lambda *_: (_ for _ in ()).throw(MemoryError("no room")))
        points.add(rows([0] * 10_000), 1, lasts=True)
        with pytest.raises(MemoryError, match="no room"):
            points.wait()
    points.add(rows([0] * 10_000), 1, lasts=True)
    assert len(points.columns()[0].step) == 10_000


@needs_compiled
def test_an_error_that_the_other_thread_met_is_raised_once(monkeypatch):
    met, points = threading.Event(), ScalarColumns()

    def refuse(*_):
        met.set()
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(ScalarColumns, "_grow", refuse)
        points.add(rows([0] * 10_000), 1, lasts=True)
        assert met.wait(60)
        with pytest.raises(MemoryError, match="no room"):
            points.wait()
    points.add(rows([0] * 10_000), 1, lasts=True)
    assert len(points.columns()[0].step) == 10_000


@needs_compiled
def test_an_interrupt_before_the_last_rows_are_waited_for_leaves_them_their_memory(tmp_path, monkeypatch):
    begun, go_on, seen = threading.Event(), threading.Event(), []
    (tmp_path / "events.out.tfevents.1.a").write_bytes(b"".join(encode_scalar("a", i, 1.0, 0.5) for i in range(20_000)))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "events.out.tfevents.1.b").write_bytes(
        b"".join(encode_scalar(f"b{i % 400}", i, 1.0, 0.5) for i in range(20_000))
    )

    def late(scattered, growth):
        begun.set()
        go_on.wait(60)
        seen.append(scattered["tag"].max())

    def interrupted(points):
        if points._adding is not None:
            assert begun.wait(60)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sharing, "processors", lambda: 2)
        patch.setattr(ScalarColumns, "_scatter", lambda _, scattered, growth: late(scattered, growth))
        patch.setattr(ScalarColumns, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            read_run(tmp_path)
    assert len(read_run(tmp_path / "b").scalars) == 400
    go_on.set()
    while not seen:
        time.sleep(0.001)
    assert seen == [0]
