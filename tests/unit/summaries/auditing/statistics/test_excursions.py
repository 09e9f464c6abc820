"""What stands out of a series: where it begins and ends, and what its own noise explains."""

import numpy as np
import pytest

from summaries.auditing.statistics.excursions import Excursions

SEEDS = range(5)


@pytest.fixture(autouse=True)
def _as_the_engine_calls_rules():
    with np.errstate(all="ignore"):
        yield


def noise(seed, n, share=0.05):
    return 1 + share * np.random.default_rng(seed).standard_normal(n)


def spans(found):
    return [(peak.first, peak.last) for peak in found.returned]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [60, 300, 1000, 5000])
def test_noise_does_not_stand_out(n, seed):
    for values in (noise(seed, n), noise(seed, n) * np.linspace(3, 1, n), np.ones(n), np.linspace(3, 1, n)):
        found = Excursions.of(values, 8.0, 0.1)
        assert (found.returned, found.unreturned) == ([], None)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [300, 1000, 5000])
@pytest.mark.parametrize("width", [1, 3, 6])
def test_a_stretch_that_stands_out(n, width, seed):
    values = noise(seed, n)
    at = int(0.6 * n)
    values[at : at + width] += np.linspace(4, 3, width)
    found = Excursions.of(values, 8.0, 0.1)
    assert spans(found) == [(at, at + width - 1)]
    (peak,) = found.returned
    assert (peak.top, peak.points, peak.lasting) == (at, width, width >= 3)
    assert peak.level == pytest.approx(1, abs=0.05)
    assert peak.sigmas == pytest.approx(4 / 0.05, rel=0.6)
    assert found.unreturned is None


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("at", [350, 420])
def test_a_peak_is_measured_by_the_noise_around_it(at, seed):
    """The noise is twenty times as large from the middle on, which says nothing about a peak before it."""
    noise_there = np.where(np.arange(1000) < 500, 0.01, 0.2)
    values = 1 + noise_there * np.random.default_rng(seed).standard_normal(1000)
    values[at] += 5
    (peak,) = Excursions.of(values, 8.0, 0.1).returned
    assert (peak.first, peak.last) == (at, at)
    assert peak.sigmas == pytest.approx(5 / 0.01, rel=0.6)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("n", [300, 1000])
def test_the_stretch_at_the_end_has_not_returned(n, width):
    values = noise(0, n)
    values[-width:] += 4
    found = Excursions.of(values, 8.0, 0.1)
    assert found.returned == []
    assert (found.unreturned.first, found.unreturned.last) == (n - width, n - 1)


def test_only_what_is_above_stands_out():
    values = noise(0, 1000)
    values[600:603] -= 0.9
    assert Excursions.of(values, 8.0, 0.1).returned == []


def test_a_fall_and_a_lasting_rise_do_not_count():
    for values in (
        noise(0, 1000) * np.where(np.arange(1000) < 500, 3, 1),
        noise(0, 1000) * np.where(np.arange(1000) < 500, 1, 3),
    ):
        assert Excursions.of(values, 8.0, 0.1).returned == []


def test_how_far_above_the_range_tells():
    values = np.linspace(10, 5, 1000) + 0.001 * np.random.default_rng(0).standard_normal(1000)
    values[600] += 1.0
    assert spans(Excursions.of(values, 8.0, 0.1)) == [(600, 600)]
    assert Excursions.of(values, 8.0, 0.3).returned == []


def test_several_stretches():
    values = noise(1, 3000)
    for at in (900, 1500, 2400):
        values[at : at + 4] += 3
    assert spans(Excursions.of(values, 8.0, 0.1)) == [(900, 903), (1500, 1503), (2400, 2403)]


@pytest.mark.parametrize("n", [30, 60])
def test_in_a_short_run_the_nearest_points_tell(n):
    """A block of a loss that falls fast is all slope."""
    t = np.arange(n)
    values = (0.2 + 3 * np.exp(-t / 8)) * noise(3, n, 0.01)
    values[n // 2] += 2
    found = Excursions.of(values, 8.0, 0.1, nearest=True)
    assert spans(found) == [(n // 2, n // 2)]
    assert found.reach == 15


@pytest.mark.parametrize("seed", SEEDS)
def test_stretches_that_last(seed):
    values = noise(seed, 40_000, 0.3)
    values[20_000:21_000] += 0.7
    found = Excursions.of_stretches(values, 8.0, 0.1)
    (peak,) = found.returned
    assert abs(peak.first - 20_000) <= 100
    assert abs(peak.last - 20_999) <= 100
    assert 20_000 <= peak.top < 21_000
    assert peak.points == peak.last + 1 - peak.first
    assert values[peak.top] == values[peak.first : peak.last + 1].max()
    assert found.reach % 100 == 0


def test_what_stands_out_both_ways_on_a_grid_is_an_epochs_last_batch():
    """A small batch at each epoch's end has a loss far above or far below the others'."""
    rng = np.random.default_rng(0)
    values = noise(0, 1000, 0.01)
    last = np.arange(99, 1000, 100)
    values[last] += rng.choice([-0.5, 0.5], len(last))
    values[last[5]], values[last[6]] = 1.6, 0.4
    assert Excursions.of(values, 8.0, 0.1).returned == []
    values = noise(0, 1000, 0.01)
    values[[200, 417, 655, 901]] += [0.5, 0.6, 0.5, 0.6]  # one way, and on no grid
    assert spans(Excursions.of(values, 8.0, 0.1)) == [(200, 200), (417, 417), (655, 655), (901, 901)]


@pytest.mark.parametrize("nearest", [False, True])
def test_the_crest_of_a_smooth_hump_is_no_jump_in_a_short_run(nearest):
    values = 0.036 + 0.001 * np.cos(np.arange(100.0))
    values[:12] = [0.076, 0.062, 0.0504, 0.0392, 0.0364, 0.0399, 0.0481, 0.057, 0.0617, 0.0521, 0.0409, 0.0371]
    values[12:] = 0.036 - 0.0001 * np.log(np.arange(12, 100))
    assert Excursions.of(values, 8.0, 0.1, nearest=nearest).returned == []
    values[50] = 0.2
    assert spans(Excursions.of(values, 8.0, 0.1, nearest=nearest)) == [(50, 50)]
