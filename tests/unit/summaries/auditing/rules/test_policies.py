"""GL506: policies that collapse, and healthy ones whose entropy falls."""

import audited
import numpy as np
import pytest

N = 200
REWARD = 10 + np.sin(np.arange(N))


def found(tag, values, **others):
    return audited.finding("GL506", **{tag: values}, **(others or {"rollout/ep_rew_mean": REWARD}))


def test_what_is_said():
    entropy = found("train/entropy_loss", -1.4 * 0.9 ** np.arange(N))
    assert entropy.message.startswith("train/entropy_loss falls from 0.5")
    assert entropy.message.endswith(" within the first half: the policy does not explore")
    still = found("train/approx_kl", np.where(np.arange(N) < 60, 0.01, 0.0))
    assert still.message == (
        "train/approx_kl is exactly 0 from the middle of the run on: the policy does not change any more"
    )
    assert still.steps == (60, 199)


@pytest.mark.parametrize("tag", ["losses/entropy", "Policy/Entropy", "Loss/entropy", "train/policy_entropy"])
def test_the_names_of_several_libraries(tag):
    assert found(tag, 1.4 * 0.9 ** np.arange(N)) is not None


@pytest.mark.parametrize(
    ("tag", "values"),
    [
        ("train/entropy_loss", -1.4 * (1 - np.arange(N) / N)),  # as it should be
        ("train/entropy", np.linspace(2.0, -2.0, N)),  # of continuous actions
        ("train/ent_coef", 0.9 ** np.arange(N)),
        ("train/cross_entropy", 0.9 ** np.arange(N)),
        ("train/approx_kl", np.full(N, 0.01)),
        ("train/approx_kl", np.zeros(N)),
    ],
)
def test_what_is_no_collapse(tag, values):
    assert found(tag, values) is None


def test_an_entropy_outside_of_reinforcement_learning():
    assert found("train/entropy", 0.9 ** np.arange(N), train__loss=0.99 ** np.arange(N)) is None


def test_a_reward_that_collapses_and_stays_down():
    n = np.arange(240)
    rise = 20 + 10 * np.minimum(n, 120) / 10 + np.sin(n)
    fallen = rise - np.clip(n - 120, 0, 60) * 2
    (told,) = audited.findings("GL506", rollout__ep_rew_mean=fallen)
    assert told.message.startswith("rollout/ep_rew_mean falls from 12")
    assert told.message.endswith(" gained, most is lost")
    for kept in (rise, rise - np.clip(n - 120, 0, 60) / 2, 20 + np.sin(n) - n / 100):
        assert audited.findings("GL506", rollout__ep_rew_mean=kept) == ()
