"""Overflows of mixed precision in GL301 and GL401: notes where training goes on, errors where it does not."""

import numpy as np
import pytest
from audits.audited import finding


def scaled(at, scale):
    """A loss that is NaN at one of fifty points, with the scale that it had."""
    loss = np.linspace(2, 1, 50)
    loss[at] = np.nan
    return {"loss": loss, "loss_scale": scale}


@pytest.mark.parametrize("points", [1, 2, 3])
def test_overflows_at_the_end_so_far_are_a_note_if_the_loss_is_scaled(points):
    norm, scale = np.ones(50), np.full(50, 1024.0)
    norm[-points:] = np.inf
    assert finding("GL401", loss=np.linspace(2, 1, 50), grad_norm=norm).severity.name == "WARNING"
    assert finding("GL401", loss=np.linspace(2, 1, 50), grad_norm=norm, loss_scale=scale).severity.name == "INFO"


@pytest.mark.parametrize("with_loss", [False, True])
def test_gradients_that_stay_nan_are_an_error(with_loss):
    norm = np.ones(50)
    norm[-4:] = np.nan
    assert finding("GL401", grad_norm=norm, loss_scale=norm).severity.name == "ERROR"
    loss = np.linspace(2, 1, 50)
    norm[-3:] = 1.0
    loss[-2:] = np.nan if with_loss else 1.0
    assert finding("GL401", loss=loss, grad_norm=norm).severity.name == ("ERROR" if with_loss else "INFO")


@pytest.mark.parametrize("at", [0, 1, 25, 48])
@pytest.mark.parametrize("delay", [0, 1])
def test_a_loss_that_is_nan_where_its_scale_is_lowered_is_a_note(at, delay):
    scale = np.where(np.arange(50) >= at + delay, 1024.0, 2048.0)
    hit = finding("GL301", **scaled(at, scale if at + delay else np.r_[4096, scale[1:]]))
    assert hit.severity.name == "INFO"
    assert hit.message == (
        f"loss is nan at step {at}, at 1 of 50 points; the loss scale was lowered, so these steps were skipped"
    )


@pytest.mark.parametrize("lowered_at", [10, 27, 60])
def test_a_loss_that_is_nan_while_its_scale_stays_is_an_error(lowered_at):
    scale = np.where(np.arange(50) >= lowered_at, 1024.0, 2048.0)
    assert finding("GL301", **scaled(25, scale)).severity.name == "ERROR"


def test_a_loss_that_stays_nan_is_an_error_however_low_its_scale():
    scale = 2.0 ** -np.maximum(np.arange(50) - 25, 0)
    assert finding("GL301", **scaled(slice(25, None), scale)).severity.name == "ERROR"


def test_a_loss_scale_that_falls_to_nothing_and_stays():
    scale = np.r_[np.full(40, 65536.0), 65536.0 / 16.0 ** np.arange(1, 30), np.zeros(40)]
    found = finding("GL401", loss_scale=scale)
    assert (found.severity.name, found.steps) == ("WARNING", (39, 108))
    assert found.message == (
        "loss_scale falls from 6.554e+04 at step 39 to 0 at step 69: all those steps overflowed and were skipped"
    )
    for fine in (scale[:48], np.r_[scale, 1.0], np.zeros(50), np.full(50, 1e-9)):
        assert finding("GL401", loss_scale=fine) is None
