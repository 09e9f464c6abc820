"""Columns of scalars become an event file with the same bytes as one event after another."""

import warnings

import numpy as np
import pytest
from helpers import event_files, scalars

from summaries import EventFileWriter, NonFiniteWarning, read_run, summary_iterator
from summaries.kinds.text import text
from summaries.writing import columns_writer
from summaries.writing.columns_writer import ColumnsWriter


def columns(rng, count, tags):
    values = rng.normal(size=count) * 10.0 ** rng.integers(-40, 40, count)
    values[::7] = np.nan
    return rng.integers(0, tags, count), rng.integers(0, 2**40, count), rng.uniform(1e9, 2e9, count), values


def test_the_file_is_that_of_a_writer_which_logs_one_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(columns_writer, "_ROWS", 100)
    numbers, steps, wall_times, values = columns(np.random.default_rng(0), 1000, 3)
    names = ["loss", "a/b", "ü\n"]
    with ColumnsWriter(tmp_path / "columns") as writer:
        tags = np.array([writer.number_of(name) for name in names])
        writer.add_scalars(tags[numbers], steps, wall_times, values)
    with (
        warnings.catch_warnings(action="ignore", category=NonFiniteWarning),
        EventFileWriter(tmp_path / "calls", clock=lambda: wall_times[0]) as plain,
    ):
        for number, step, wall_time, value in zip(numbers, steps, wall_times, values, strict=True):
            plain.add_scalar(names[number], float(value), int(step), float(wall_time))
    (ours,), (other,) = event_files(tmp_path / "columns"), event_files(tmp_path / "calls")
    assert ours.read_bytes() == other.read_bytes()
    finite = np.isfinite(values)
    assert writer.points == 1000
    assert writer.overflowed == np.count_nonzero(np.abs(values[finite]) > np.finfo(np.float32).max) > 0


def test_a_tag_that_is_not_text_is_escaped(tmp_path):
    with ColumnsWriter(tmp_path) as writer:
        number = writer.number_of("a\udc80")
        writer.add_scalars(np.array([number]), np.array([3]), np.array([1e9]), np.array([0.5]))
    assert scalars(event_files(tmp_path)[0]) == [(3, "a\\udc80", 0.5)]


@pytest.mark.parametrize("first", [np.nan, np.inf, -1.0, 1e10, 1e300])
def test_a_time_that_is_none_does_not_name_the_file(tmp_path, first):
    with ColumnsWriter(tmp_path) as writer:
        writer.add_scalars(np.array([writer.number_of("x")]), np.array([0]), np.array([first]), np.array([1.0]))
    version, _ = summary_iterator(event_files(tmp_path)[0])
    assert 1e9 < version.wall_time < 1e10
    np.testing.assert_equal(read_run(tmp_path).scalars["x"].wall_time, [first])


def test_a_summary_and_nothing(tmp_path):
    with ColumnsWriter(tmp_path / "a") as writer:
        writer.add_summary(text("note", "hello"), 7, 1e9)
    run = read_run(tmp_path / "a")
    (items,) = run.texts.values()
    assert (items.step.tolist(), items[0]) == ([7], "hello")
    with ColumnsWriter(tmp_path / "b"):
        pass
    assert repr(read_run(tmp_path / "b")) == "Run(1 file, 0 tags, 0 scalars, 0 faults)"


def test_a_block_that_raises_creates_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), ColumnsWriter(tmp_path / "a"):
        _ = 1 / 0
    assert not (tmp_path / "a").exists()
