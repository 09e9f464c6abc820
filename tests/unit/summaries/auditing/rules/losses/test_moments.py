"""GL301 and GL302 at their edges, beside GL303 and GL304: what excuses a rise, and how long it has to last."""

import numpy as np
import pytest
from audits.audited import codes, finding, findings
from labelled import runs as labelled


def sgdr(n, cycles):
    return 1e-3 * 0.5 * (1 + np.cos(np.pi * ((np.arange(n) * cycles / n) % 1)))


def test_a_warm_up_excuses_no_rise():
    t = np.arange(1000)
    rate = 1e-3 * np.minimum(1, (t + 1) / 50)
    assert codes(loss=2.3 + 4.6 * t / 1000, lr=rate) == ["GL304"]
    assert codes(loss=np.where(t < 100, 2.3 - t / 100, 1.3 + 4.6 * t / 1000), lr=rate) == ["GL304"]
    assert codes(loss=np.full(1000, 2.3), lr=rate) == ["GL303"]


def test_a_restart_excuses_a_rise_that_it_makes():
    n = 1000
    phase = np.arange(n) % 400  # the run ends in the middle of a cycle
    loss = 0.5 + 2 * np.exp(-np.arange(n) / 50) + 0.3 * np.exp(-phase / 100) * (np.arange(n) >= 400)
    rate = 1e-3 * 0.5 * (1 + np.cos(np.pi * phase / 400))
    assert codes(loss=loss, lr=rate) == []


@pytest.mark.parametrize(("rise", "at"), [(0.8, 250), (2.0, 750)])
def test_a_restart_excuses_no_rise_that_stays(rise, at):
    n = 1000
    loss = 0.5 + 2 * np.exp(-np.arange(n) / 50)
    loss[at:] += rise  # a smaller one, for three cycles; all that was learnt, in the last
    assert codes(loss=loss, lr=sgdr(n, 4)) == ["GL304"]


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_that_is_often_zero(seed):
    rng, n = np.random.default_rng(seed), 1000
    loss = np.where(rng.random(n) < np.linspace(0.2, 0.8, n), 0, rng.exponential(1, n))
    assert codes(loss=loss) == []
    assert codes(loss=np.maximum(0, 0.5 * np.exp(-np.arange(n) / 300) + 0.25 * rng.standard_normal(n))) == []


@pytest.mark.parametrize("share", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("n", [10_000, 200_000])
def test_a_spike_that_takes_a_while_however_long_the_run(n, share):
    rng = np.random.default_rng(n)
    loss = labelled.decay(n)
    at = int(0.63 * n)
    loss[at:] += 1.5 * np.exp(-np.arange(n - at) / (share * n / 3))
    assert codes(loss=labelled.noisy(rng, loss, 0.1)) == ["GL302"]


def test_where_there_is_no_noise_its_multiples_tell_nothing():
    loss = np.full(200, 0.5)
    loss[0], loss[100] = 1.0, 1e12
    assert finding("GL302", loss=loss).message == (
        "loss jumps from 0.5 at step 99 to 1e+12 at step 100; the rise is over 1,000 times its noise"
    )
    loss[100:] = 1.0
    assert finding("GL304", loss=loss).evidence["sigmas"] == 1e6


def test_losses_that_are_not_finite_are_one_finding():
    """Of the first in time, unless one of them is the main loss; also behind one that is finite."""
    fine, nan = np.linspace(2, 1, 50), np.r_[np.linspace(2, 1, 40), np.full(10, np.nan)]
    (found,) = findings("GL301", a__loss=fine, b__loss=nan, c__loss=fine, d__loss=nan)
    assert (found.tag, found.others) == ("b/loss", ("d/loss",))
    assert found.message == "b/loss is nan at step 40, and stays so to the end; so is d/loss"
    assert (found.steps, found.count) == ((40, 49), 10)
    assert found.evidence == {"points": 10, "of": 50, "first value": "nan", "tags": 2}
    later = np.r_[np.linspace(2, 1, 45), np.full(5, np.nan)]
    (found,) = findings("GL301", loss=later, val__mae=nan, loss__gan=nan)
    assert found.message.startswith("loss is nan at step 45, and stays so to the end; so are ")


def test_a_metric_without_a_sample_is_no_loss_that_is_lost():
    nan = np.full(50, np.nan)
    assert codes(total_loss=np.linspace(2, 1, 50), bbox__APs=nan) == []
    (found,) = findings("GL301", total_loss=nan, bbox__AP50=nan)
    assert (found.tag, found.others) == ("total_loss", ("bbox/AP50",))


def test_what_fails_with_a_loss_is_told_beside_it_whatever_it_is():
    fine, nan = np.linspace(2, 1, 50), np.r_[np.linspace(2, 1, 40), np.full(10, np.nan)]
    (found,) = findings("GL301", loss__total=nan, loss__weird=nan, foo=nan, bar=np.r_[np.nan, nan[1:]], baz=fine)
    assert (found.tag, found.others) == ("loss/total", ("loss/weird", "foo"))


def test_a_rise_that_lasts_is_told_with_the_first_point_after_it():
    n = np.arange(400)
    loss = 1 + 0.01 * np.sin(n) + 5.0 * ((n >= 200) & (n < 212))
    found = finding("GL302", loss=loss)
    after = int(np.flatnonzero(loss > 2)[-1]) + 1
    assert f", and is {loss[after]:.4g} at step {after}; the rise is " in found.message


def test_a_spike_is_told_from_the_points_just_before_it():
    loss = 0.1 + 2 * np.exp(-np.arange(400) / 30)
    loss[60] = 4e4
    assert (
        finding("GL302", loss=loss).message
        == "loss jumps from 0.3798 at step 59 to 4e+04 at step 60; the rise is over 1,000 times its noise"
    )


def test_a_loss_that_is_not_finite_is_told_of_the_curve_that_shows_it_first():
    """A finer training loss before the main one; with steps of its own, and what it is from there on."""
    n = np.arange(60.0)
    fine, late = np.where(n < 40, 2 - n / 60, np.inf), np.where(n < 48, 2 - n / 60, np.nan)[::12]
    fine[45:] = np.nan
    (found,) = findings("GL301", train_loss=late, loss=fine)
    assert found.message == "loss is inf at step 40, and not finite from there to the end; so is train_loss"
    assert found.steps == (40, 59)
    (found,) = findings("GL301", loss=np.r_[np.linspace(2, 1, 40), np.inf])
    assert found.message == "loss is inf at step 40, its last point"


def test_spikes_one_after_the_other_are_told_with_the_first_point_that_is_back():
    rng = np.random.default_rng(0)
    loss = 0.3 * np.exp(0.2 * rng.standard_normal(400))
    loss[[200, 201, 208, 210, 216, 217, 224]] *= 500
    message = finding("GL302", loss=loss).message
    step = int(message.partition(", and is ")[2].split(" at step ")[1].split(";")[0])
    assert (step, bool(loss[step] < 1)) == (212, True)  # between them, not at 225, after the last one


def test_a_validation_that_is_high_once_at_the_beginning_is_a_note():
    n = np.arange(45)
    validation = 0.1 + 0.5 * 0.9**n + 0.003 * np.sin(5 * n)
    early, late = validation.copy(), validation.copy()
    early[6], late[30] = 1.5, 1.5
    assert finding("GL302", train_loss=validation, val_loss=early).severity.name == "INFO"
    assert finding("GL302", train_loss=validation, val_loss=late).severity.name == "WARNING"
