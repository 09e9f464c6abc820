"""show: statistics of tags, beside NumPy's, and of what is odd."""

import math

import numpy as np
import pytest
from event_data.odd_runs import NAME, ODD_RUNS

from summaries.tools import show
from summaries.tools.showing import QUANTILES


def shown(tmp_path, data, **options):
    (tmp_path / NAME).write_bytes(data)
    return {one.tag: one for one in show(tmp_path, **options)}


def test_statistics_are_numpys(tmp_path):
    from event_data.odd_runs import losses

    values = np.random.default_rng(0).normal(size=1000).astype(np.float32).astype(float)
    loss = shown(tmp_path, losses(values.tolist()))["loss"]
    found = loss.values
    assert (loss.count, loss.steps, loss.restarts, loss.superseded) == (1000, (0, 999), 0, 0)
    assert (found.first, found.last, found.min, found.max) == (values[0], values[-1], values.min(), values.max())
    assert (found.min_step, found.max_step) == (values.argmin(), values.argmax())
    assert found.mean == pytest.approx(values.mean(), rel=1e-9)
    assert found.std == pytest.approx(values.std(), rel=1e-9)
    assert found.quantiles == pytest.approx(dict(zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)), rel=1e-9)


def test_values_that_are_not_finite_are_counted_and_left_out(tmp_path):
    found = shown(tmp_path, ODD_RUNS["partly finite"])["loss"].values
    assert (found.nans, found.infinities, found.min, found.max, found.mean, found.last) == (1, 1, 1.0, 3.0, 2.0, 3.0)


def test_nothing_is_finite(tmp_path):
    found = shown(tmp_path, ODD_RUNS["nothing finite"])["loss"].values
    assert (found.nans, found.infinities, found.last, found.min_step) == (1, 2, -math.inf, None)
    assert np.isnan([found.first, found.min, found.max, found.mean, found.std, *found.quantiles.values()]).all()


def test_no_sum_overflows(tmp_path):
    found = shown(tmp_path, ODD_RUNS["huge values"])["loss"].values
    assert (found.mean, found.min, found.max) == (0.0, -1.7e308, 1.7e308)
    assert found.std == pytest.approx(1.7e308)


def test_restarts_and_what_they_superseded(tmp_path):
    every = shown(tmp_path, ODD_RUNS["restarts"])["loss"]
    assert (every.count, every.restarts, every.superseded, every.values.min) == (6, 1, 2, 1.0)
    latest = shown(tmp_path, ODD_RUNS["restarts"], latest=True)["loss"]
    assert (latest.count, latest.restarts, latest.superseded, latest.values.min) == (4, 1, 2, 1.5)


def test_other_kinds_have_no_values(tmp_path):
    found = shown(tmp_path, ODD_RUNS["other kinds"])
    assert {one.kind: one.values for one in found.values()} == dict.fromkeys(
        ("histograms", "audio", "texts", "tensors")
    )


def test_tags_are_chosen_by_patterns(tmp_path):
    assert list(shown(tmp_path, ODD_RUNS["other kinds"], tags="w*")) == ["weights"]


def test_a_run_without_values(tmp_path):
    assert shown(tmp_path, ODD_RUNS["only a version"]) == {}
