"""GL505: updates that jump before the loss does, at the same time, or alone. GL508: forecasts."""

import numpy as np
import pytest
from audits import audited

N = 400
NOISE = np.random.default_rng(0).standard_normal((2, N))


def found(loss_at, norm_at):
    loss, norm = 2 + 0.02 * NOISE[0], 1 + 0.05 * NOISE[1]
    for at in loss_at:
        loss[at : at + 5] += 5
    for at in norm_at:
        norm[at : at + 3] += 10
    return audited.finding("GL505", train__loss=loss, updates__norm__a=norm, updates__norm__b=0.1 * norm)


def test_what_is_said():
    one = found([200, 300], [196, 298])
    assert one.message == "the norm of the updates jumps 2 to 4 points before train/loss does, at 2 spikes"
    assert (one.steps, one.count) == ((200, 304), 2)
    assert "jumps 1 point before" in found([200], [199]).message
    assert "jumps 3 points before" in found([200, 300], [197, 297]).message


@pytest.mark.parametrize(("loss_at", "norm_at"), [(200, 200), (200, 205), (200, 100), (200, None), (None, 50)])
def test_what_is_no_precursor(loss_at, norm_at):
    assert found(*([] if at is None else [at] for at in (loss_at, norm_at))) is None


def foretold(*at):
    rise = np.full(N, 0.01)
    rise[list(at)] = 20.0
    return audited.finding("GL508", train__loss=2 + 0.02 * NOISE[0], optimizer__forecast_rise=rise)


def test_what_is_said_of_forecasts():
    one = foretold(150, 151, 210, 320)
    assert one.message == (
        "from step 150, Adam's own oscillation is forecast to reach 20 times the loss; 2 such forecasts"
    )
    assert (one.steps, one.count, one.severity.name) == ((150, 320), 2, "INFO")
    assert foretold() is None
