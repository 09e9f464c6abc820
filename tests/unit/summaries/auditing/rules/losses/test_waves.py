"""GL314: waves of epochs, and what else goes up and down."""

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(400)
WAVE = 1 + 0.3 * np.sin(2 * np.pi * N / 25)
FALL = 0.3 + 2 * 0.99**N
RNG = np.random.default_rng(0)


def test_waves_of_one_length():
    found = finding("GL314", train__loss=WAVE * FALL)
    assert found.message.startswith("train/loss goes up and down every 25 steps, by 61% of its level")
    assert found.evidence["period"] == 25


@pytest.mark.parametrize(
    "loss",
    [
        FALL,
        FALL * (1 + 0.2 * RNG.standard_normal(400)),
        FALL * (1 + 0.2 * np.tile(RNG.standard_normal(25), 16)),  # shuffled once: the same batches, in any order
        FALL * np.exp(0.05 * np.cumsum(RNG.standard_normal(400))),  # it wanders
        FALL * (1 + 0.02 * np.sin(2 * np.pi * N / 25)),
        FALL * (1 + 0.3 * np.sin(2 * np.pi * N / 100)),  # four restarts
    ],
)
def test_what_has_no_waves(loss):
    assert "GL314" not in codes(train__loss=loss)


def test_waves_of_the_rate():
    assert "GL314" not in codes(train__loss=WAVE * FALL, lr=1e-3 * WAVE)


@pytest.mark.parametrize("epochs", [8, 10, 16, 20])
def test_stairs_of_a_fine_tuning(epochs):
    """Each epoch's examples have been seen once more: the loss falls where one begins, and never rises."""
    stairs = np.repeat(0.05 + 1.4 * 0.8 ** np.arange(epochs), 400 // epochs)
    assert "GL314" not in codes(
        train__loss=stairs * np.exp(0.04 * np.random.default_rng(1).standard_normal(len(stairs)))
    )


def test_waves_that_grow_are_no_order_of_data():
    found = finding("GL314", train__loss=1 + (WAVE - 1) * np.exp(N / 100 - 3.5))
    assert found.message.endswith(
        "of its level in the first third, and 23% in the last: the training swings, as with a rate that is too high, or"
        " gradients that are never set to zero"
    )


def test_waves_of_a_setting():
    """Two tasks in turn; and a schedule that only comes down is none."""
    second = N // 20 % 2
    loss = FALL * (1 + 0.5 * second)
    assert "GL314" in codes(train__loss=loss)
    assert "GL314" not in codes(train__loss=loss, task=second)
    assert "GL314" in codes(train__loss=WAVE * FALL, lr=0.5 * (1 + np.cos(np.pi * N / 400)))
    assert "GL314" in codes(train__loss=WAVE * FALL, teacher_forcing_ratio=1 - N / 400)
