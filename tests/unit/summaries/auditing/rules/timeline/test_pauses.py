"""GL204: stalls, and the pauses that are none."""

import numpy as np
import pytest
from audits.audited import found_in, log

from summaries import SummaryWriter

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("points", [40, 300, 3000])
@pytest.mark.parametrize(("secs", "gap"), [(1.0, 60.0), (0.5, 600.0), (30.0, 7200.0)])
def test_a_stall(tmp_path, points, secs, gap, seed):
    rng = np.random.default_rng(seed)
    at = int(rng.uniform(0.2, 0.9) * points)
    between = secs * np.exp(0.3 * rng.standard_normal(points))
    between[at] = gap
    times = 1e9 + np.cumsum(between)
    with SummaryWriter(tmp_path) as writer:
        for step, time in enumerate(times.tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    codes = found_in(tmp_path)
    assert codes["GL204"].steps == (at - 1, at)
    assert codes["GL204"].evidence["seconds"] == pytest.approx(gap)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("every", [7, 50, 250])
def test_checkpoints_are_no_stalls(tmp_path, every, seed):
    rng = np.random.default_rng(seed)
    between = 0.2 * np.exp(0.5 * rng.standard_normal(1000))
    between[every::every] += 45.0
    with SummaryWriter(tmp_path) as writer:
        for step, time in enumerate((1e9 + np.cumsum(between)).tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    assert found_in(tmp_path) == {}


def test_the_night_between_two_sessions_is_no_stall(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(100, 200), suffix=".1", start=1e9 + 50_000)
    assert "GL204" not in found_in(tmp_path)


def test_a_stall_is_told_with_the_longest_gap_and_the_sum(tmp_path):
    times = 1e9 + np.arange(400.0)
    for at, secs in ((100, 300), (217, 900), (391, 500), (393, 400), (394, 600), (395, 700)):
        times[at:] += secs
    with SummaryWriter(tmp_path) as writer:
        for step, time in enumerate(times.tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    assert found_in(tmp_path)["GL204"].message == (
        "901 s passed between steps 216 and 217, usually 1 s; 6 such gaps, 3,406 s in all"
    )


def test_the_end_of_the_only_epoch_is_no_stall(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(200):
            time = 1e9 + 0.2 * step + 90 * (step >= 100)
            writer.add_scalar("train_loss", 1 / (1 + step), step, walltime=time)
            writer.add_scalar("epoch", step // 100, step, walltime=time)
    assert "GL204" not in found_in(tmp_path)
