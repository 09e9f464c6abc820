"""Thinning: fewer points of scalars, whose extremes stay, and all of everything else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import SummaryWriter, read_run
from summaries.tools import thin
from summaries.wire.scalars import encode_scalar

NUMBERS = st.one_of(st.floats(width=32), st.sampled_from([0.0, 1.0, float("nan"), float("inf")]))


def written(directory, columns):
    """A run in which these tags' points take turns."""
    (directory / "run").mkdir()
    records = [
        encode_scalar(tag, step, 1.0, column[step])
        for step in range(max(map(len, columns.values())))
        for tag, column in columns.items()
        if step < len(column)
    ]
    (directory / "run" / "x.tfevents").write_bytes(b"".join(records))
    return directory / "run"


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.integers(4, 20))
def test_minmax(tmp_path_factory, numbers, most):
    place = tmp_path_factory.mktemp("x")
    other = list(range(100))
    run = written(place, {"a": numbers, "b": other})
    thin(run, place / "out", minmax=most)
    series = read_run(place / "out").scalars["a"]
    value = read_run(run).scalars["a"].value
    kept = series.step.tolist()
    assert np.array_equal(series.value, value[kept], equal_nan=True)
    assert {0, len(numbers) - 1} <= set(kept)
    if len(numbers) <= most:
        assert len(kept) == len(numbers)
        return
    count = (most - 2) // 2
    assert len(kept) <= 2 + 3 * count
    stretches = (np.arange(len(numbers) - 2) * count) // (len(numbers) - 2)
    for stretch in range(count):
        own = 1 + np.flatnonzero(stretches == stretch)
        finite = own[~np.isnan(value[own])]
        left = [step for step in kept if step in set(own.tolist())]
        if len(finite):
            assert value[finite].min() in value[left]
            assert value[finite].max() in value[left]
        if len(finite) < len(own):
            assert np.isnan(value[left]).sum() >= 1
    assert len(read_run(place / "out").scalars["b"].step) <= most


def test_every(tmp_path):
    run = written(tmp_path, {"a": range(25), "b": range(3)})
    assert thin(run, tmp_path / "out", every=10).dropped == 24
    out = read_run(tmp_path / "out")
    assert out.scalars["a"].step.tolist() == [0, 10, 20]
    assert out.scalars["b"].step.tolist() == [0]


def test_only_tags_that_match(tmp_path):
    run = written(tmp_path, {"train/a": range(9), "val/a": range(9)})
    thin(run, tmp_path / "out", every=4, tags="train/*")
    out = read_run(tmp_path / "out")
    assert [len(out.scalars[tag]) for tag in ("train/a", "val/a")] == [3, 9]


def test_other_kinds_stay(tmp_path):
    with SummaryWriter(tmp_path / "run") as writer:
        for step in range(10):
            writer.add_scalar("a", step, step, new_style=True)
            writer.add_histogram("h", [1.0, 2.0], step)
            writer.add_text("t", "words", step)
    thin(tmp_path / "run", tmp_path / "out", minmax=4)
    out = read_run(tmp_path / "out")
    assert out.scalars["a"].step.tolist() == [0, 1, 8, 9]
    assert (len(out.histograms["h"]), len(out.texts["t/text_summary"])) == (10, 10)
    assert out.metadata["a"].plugin_data.plugin_name == "scalars"


def test_files_of_a_run_are_one_series(tmp_path):
    run = written(tmp_path, {"a": range(10)})
    (run / "y.tfevents").write_bytes(b"".join(encode_scalar("a", step, 1.0, step) for step in range(10, 20)))
    thin(run, tmp_path / "out", every=8)
    assert read_run(tmp_path / "out").scalars["a"].step.tolist() == [0, 8, 16]


MISTAKES = [
    ({}, "give either every or minmax, got every=None and minmax=None"),
    ({"every": 2, "minmax": 9}, "give either every or minmax, got every=2 and minmax=9"),
    ({"every": 0}, "every must be at least 1, got 0"),
    ({"minmax": 3}, "minmax must be at least 4, got 3"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=r"must|give") as caught:
        thin(tmp_path, tmp_path / "out", **arguments)
    assert str(caught.value) == message
