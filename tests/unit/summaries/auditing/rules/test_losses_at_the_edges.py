"""The rules on losses and norms at their edges: what excuses a rise, and how long it has to last."""

import labelled_runs as labelled
import numpy as np
import pytest

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run


def codes(seed=0, **run):
    """What is found, but for notes, in a run of these tags' values."""
    columns = {tag.replace("__", "/"): labelled.columns(value) for tag, value in run.items()}
    report = audit_run("run", labelled.as_run(np.random.default_rng(seed), columns), Config())
    return [finding.code for finding in report.findings if finding.severity]


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


@pytest.mark.parametrize("n", [200, 5_000, 20_000, 100_000])
@pytest.mark.parametrize("k", [5, 12, 40, 130, 450, 1600, 6000])
def test_a_loss_that_rises_at_the_end_however_long_the_run(n, k):
    if k > n / 4:
        return
    rng = np.random.default_rng(n + k)
    loss = (0.5 + 2 * np.exp(-np.arange(n) / (0.1 * n))) * np.exp(0.02 * rng.standard_normal(n))
    assert codes(loss=loss) == []
    loss[-k:] += 2
    assert codes(loss=loss) == ["GL304"]


@pytest.mark.parametrize("n", [2_000, 20_000, 100_000])
@pytest.mark.parametrize("k", [10, 50, 100, 200, 300])
@pytest.mark.parametrize("end", [False, True])
def test_a_norm_that_explodes_for_a_while_however_long_the_run(n, k, end):
    rng = np.random.default_rng(n + k)
    norm = np.exp(0.3 * rng.standard_normal(n))
    at = n - k if end else int(rng.uniform(0.2, 0.8) * n)
    assert codes(gradients__global_norm=norm) == []
    norm[at : at + k] *= 50
    assert codes(gradients__global_norm=norm) == ["GL402"]


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_that_is_often_zero(seed):
    rng, n = np.random.default_rng(seed), 1000
    loss = np.where(rng.random(n) < np.linspace(0.2, 0.8, n), 0, rng.exponential(1, n))
    assert codes(loss=loss) == []
    assert codes(loss=np.maximum(0, 0.5 * np.exp(-np.arange(n) / 300) + 0.25 * rng.standard_normal(n))) == []


def found(run, code):
    """The finding of a code in a run of these tags' values."""
    columns = {tag: labelled.columns(value) for tag, value in run.items()}
    report = audit_run("run", labelled.as_run(np.random.default_rng(0), columns), Config(select=(code,)))
    return next(iter(report.findings), None)


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_a_divergence_begins_where_the_loss_leaves_its_level(seed, noise):
    rng, n = np.random.default_rng(seed), 2000
    at = int(rng.uniform(0.4, 0.8) * n)
    loss = labelled.decay(n)
    loss[at:] = 2.3
    collapse = found({"loss": labelled.noisy(rng, loss, noise)}, "GL304")
    assert abs(collapse.steps[0] - at) <= 2
    loss = labelled.decay(n)
    loss[at:] += 3 * np.arange(n - at) / n
    climb = found({"loss": labelled.noisy(rng, loss, noise)}, "GL304")
    assert abs(climb.steps[0] - at) <= 0.06 * n


@pytest.mark.parametrize("points", [1, 2, 3])
def test_overflows_at_the_end_so_far_are_a_note(points):
    norm = np.ones(50)
    norm[-points:] = np.inf
    assert found({"loss": np.linspace(2, 1, 50), "grad_norm": norm}, "GL401").severity.name == "INFO"


@pytest.mark.parametrize("with_loss", [False, True])
def test_gradients_that_stay_nan_are_an_error(with_loss):
    norm = np.ones(50)
    norm[-4:] = np.nan
    assert found({"grad_norm": norm, "loss_scale": norm}, "GL401").severity.name == "ERROR"
    loss = np.linspace(2, 1, 50)
    norm[-3:] = 1.0
    loss[-2:] = np.nan if with_loss else 1.0
    assert found({"loss": loss, "grad_norm": norm}, "GL401").severity.name == ("ERROR" if with_loss else "INFO")


@pytest.mark.parametrize("share", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("n", [10_000, 200_000])
def test_a_spike_that_takes_a_while_however_long_the_run(n, share):
    rng = np.random.default_rng(n)
    loss = labelled.decay(n)
    at = int(0.63 * n)
    loss[at:] += 1.5 * np.exp(-np.arange(n - at) / (share * n / 3))
    assert codes(loss=labelled.noisy(rng, loss, 0.1)) == ["GL302"]


def test_where_a_group_learns_another_may_be_frozen():
    rate = sgdr(200, 1)
    assert found({"lr/group0": rate, "lr/group1": np.zeros(200)}, "GL504").severity.name == "INFO"
    assert found({"lr/group0": np.zeros(200), "lr/group1": np.zeros(200)}, "GL504").severity.name == "ERROR"


def scaled(at, scale):
    """A loss that is NaN at one of fifty points, with the scale that it had."""
    loss = np.linspace(2, 1, 50)
    loss[at] = np.nan
    return {"loss": loss, "loss_scale": scale}


@pytest.mark.parametrize("at", [0, 1, 25, 48])
@pytest.mark.parametrize("delay", [0, 1])
def test_a_loss_that_is_nan_where_its_scale_is_lowered_is_a_note(at, delay):
    scale = np.where(np.arange(50) >= at + delay, 1024.0, 2048.0)
    hit = found(scaled(at, scale if at + delay else np.r_[4096, scale[1:]]), "GL301")
    assert hit.severity.name == "INFO"
    assert hit.message == (
        f"loss is nan at step {at}, at 1 of 50 points; the loss scale was lowered, so these steps were skipped"
    )


@pytest.mark.parametrize("lowered_at", [10, 27, 60])
def test_a_loss_that_is_nan_while_its_scale_stays_is_an_error(lowered_at):
    scale = np.where(np.arange(50) >= lowered_at, 1024.0, 2048.0)
    assert found(scaled(25, scale), "GL301").severity.name == "ERROR"


def test_a_loss_that_stays_nan_is_an_error_however_low_its_scale():
    scale = 2.0 ** -np.maximum(np.arange(50) - 25, 0)
    assert found(scaled(slice(25, None), scale), "GL301").severity.name == "ERROR"


def test_where_there_is_no_noise_its_multiples_tell_nothing():
    loss = np.full(200, 0.5)
    loss[0], loss[100] = 1.0, 1e12
    assert (
        found({"loss": loss}, "GL302").message == "loss jumps from 0.5 to 1e+12 at step 100, over 1,000 times its noise"
    )
    loss[100:] = 1.0
    assert found({"loss": loss}, "GL304").evidence["sigmas"] == 1e6


def test_clip_is_a_share_beside_gnorm_only():
    clip = np.full(200, 100.0)
    assert found({"clip": clip, "gnorm": np.ones(200)}, "GL404").evidence["fraction"] == 1.0
    assert found({"clip": clip, "grad_norm": np.ones(200)}, "GL404") is None
    assert found({"clip": 0 * clip, "gnorm": np.ones(200)}, "GL405") is not None


def test_a_flat_loss_is_a_note_where_its_noise_could_hide_a_decrease():
    rng = np.random.default_rng(0)
    few, many = (found({"loss": 2.3 * (1 + 0.1 * rng.standard_normal(n))}, "GL303") for n in (100, 10_000))
    assert few.severity.name == "INFO"
    assert "is not seen to decrease in 100 points" in few.message
    assert "its noise could hide a decrease by" in few.message
    assert many.severity.name == "WARNING"
    assert "does not decrease in 10000 points" in many.message


def test_a_climb_hides_no_error_in_its_last_points():
    loss = np.where(np.arange(1000) < 200, 2.3 - np.arange(1000) / 250, 1.5 + 0.3 * np.arange(1000) / 1000)
    assert found({"loss": loss}, "GL304").severity.name == "INFO"
    loss[-8:] = 9.0
    assert found({"loss": loss}, "GL304").severity.name == "ERROR"


@pytest.mark.parametrize("n", [50, 200, 2000])
@pytest.mark.parametrize("growth", [3, 5, 20])
def test_a_climb_begins_where_the_norm_is_ten_times_what_it_was(n, growth):
    norm = np.exp(growth * np.maximum(0, 2 * np.arange(n) / n - 1))
    noise = np.exp(0.05 * np.random.default_rng(n).standard_normal(n))
    tenfold = n / 2 + n / 2 * np.log(10) / growth
    assert abs(found({"grad_norm": norm * noise}, "GL402").steps[0] - tenfold) <= 0.04 * n
