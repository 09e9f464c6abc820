"""GL507: rates that vanish, and schedules."""

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(200)
STANDS = 1.9 + 0.6 * 0.8 ** np.minimum(N, 30) + 0.001 * (N % 3)


def test_a_rate_that_vanishes_while_the_loss_stands():
    found = finding("GL507", train__loss=STANDS, train__lr=1e-2 * 0.9**N)
    assert found.message == (
        "train/lr falls from 0.01 at step 0 to 7.839e-12 at step 199, and is below 0.5 % of it since step 51:"
        " the updates are too small to learn"
    )


@pytest.mark.parametrize(
    "columns",
    [
        {"lr": 5e-3 * (1 + np.cos(np.pi * N / 200))},
        {"lr": 1e-2 * (1 - N / 200)},
        {"lr": 1e-2 * 0.1 ** (N // 60)},
        {"lr/head": 1e-2 * 0.9**N, "lr/body": np.full(200, 1e-3)},  # others learn
    ],
)
def test_what_is_no_dead_rate(columns):
    assert "GL507" not in codes(train__loss=STANDS, **columns)


def test_a_loss_that_still_falls():
    assert "GL507" not in codes(train__loss=2 - N / 200, train__lr=1e-2 * 0.9**N)


def test_a_rate_by_another_name():
    assert "GL507" in codes(train__loss=STANDS, alpha=1e-2 * 0.9**N)
    assert "GL507" not in codes(train__loss=STANDS, alpha=1e-2 * (1.5 + np.sin(N)))
