"""GL306: a filter that replaces NaN is told from losses that may be zero, and from overflows of a loss scale."""

import numpy as np
from audits import audited

N = 100
FAILED = np.arange(N) >= 60
NORM = np.where(FAILED, np.nan, 1.0)
LOSS = 2 * 0.99 ** np.arange(N)


def found(loss, norm=NORM):
    return audited.finding("GL306", train__loss=loss, train__grad_norm=norm)


def test_what_is_said():
    zero = found(np.where(FAILED, 0.0, LOSS))
    assert zero.message == (
        "train/loss is exactly 0 at all 40 points where train/grad_norm is not finite: a filter replaced losses that"
        " were not"
    )
    assert (zero.steps, zero.count) == ((60, 99), 40)
    repeated = found(np.where(FAILED, LOSS[59], LOSS))
    assert "is the same as before at all 40 points" in repeated.message


def test_a_finite_loss_beside_an_infinite_norm_is_an_overflow():
    assert found(LOSS) is None
    assert found(LOSS, np.where(FAILED, np.inf, 1.0)) is None


def test_a_loss_that_is_zero_elsewhere_too():
    assert found(np.where(np.arange(N) >= 30, 0.0, LOSS)) is None
    assert found(np.full(N, 1.5)) is None


def test_two_points_say_nothing():
    last = np.arange(N) >= 98
    assert found(np.where(last, 0.0, LOSS), np.where(last, np.nan, 1.0)) is None


def test_only_some_of_the_points():
    assert found(np.where(FAILED & (np.arange(N) % 2 == 0), 0.0, LOSS)) is None
