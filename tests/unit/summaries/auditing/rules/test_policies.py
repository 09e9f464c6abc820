"""GL506: policies that collapse, and healthy ones whose entropy falls."""

import numpy as np
import pytest
from audits import audited

N = 200
REWARD = 10 + np.sin(np.arange(N))


def found(tag, values, **others):
    return audited.finding("GL506", **{tag: values}, **(others or {"rollout/ep_rew_mean": REWARD}))


def test_what_is_said():
    entropy = found("train/entropy_loss", -1.4 * 0.9 ** np.arange(N))
    assert entropy.message.startswith("train/entropy_loss rises from about -0.5153 (steps 0-19) to about -5.3")
    assert found("train/entropy", 1.4 * 0.9 ** np.arange(N)).message.startswith(
        "train/entropy falls from about 0.5153 (steps 0-19) to about 5.3"
    )
    assert entropy.message.endswith(" (steps 38-199): the policy does not explore")
    still = found("train/approx_kl", np.where(np.arange(N) < 60, 0.01, 0.0))
    assert still.message == (
        "train/approx_kl is exactly 0 at the last 140 of 200 points: the policy does not change any more"
    )
    assert (still.severity.name, still.steps) == ("WARNING", (60, 199))


def test_an_entropy_that_was_always_zero_is_told_beside_a_reward_that_does_not_rise():
    zero = found("train/entropy_loss", np.zeros(N))
    assert zero.message == (
        "train/entropy_loss is exactly 0 at all 200 points: the policy does not explore, or its entropy is not measured"
    )
    assert zero.severity.name == "WARNING"
    assert found("train/entropy_loss", np.zeros(N), **{"rollout/ep_rew_mean": REWARD + np.arange(N)}) is None
    assert audited.finding("GL506", **{"train/entropy_loss": np.zeros(N), "train/approx_kl": 0.01 + 0 * REWARD}) is None


@pytest.mark.parametrize(("zeros", "of", "told"), [(16, 17, True), (10, 20, True), (9, 10, False), (10, 21, False)])
def test_ten_updates_that_change_nothing_show_a_policy_that_stopped(zeros, of, told):
    assert (found("train/approx_kl", np.where(np.arange(of) < of - zeros, 5.0, 0.0)) is not None) is told


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
    assert told.message == (
        f"rollout/ep_rew_mean falls from {fallen[119]:.4g} at step 119 to {fallen[236]:.4g} at step 236: most of what"
        " was gained is lost"
    )
    assert told.severity.name == "WARNING"
    levels = n / 60 + 0.1 * np.sin(7 * n)
    (harder,) = audited.findings("GL506", rollout__ep_rew_mean=fallen, Curriculum__terrain_levels=levels)
    assert harder.severity.name == "INFO"
    (lesson,) = audited.findings("GL506", rollout__ep_rew_mean=fallen, Environment__Lesson=n // 120)
    assert lesson.severity.name == "WARNING"  # it was never learnt
    cause = "Environment/Lesson rises from 0 at step 119 to 1 at step 120"
    assert lesson.message == f"{told.message}; the likely cause: {cause}"
    for kept in (rise, rise - np.clip(n - 120, 0, 60) / 2, 20 + np.sin(n) - n / 100):
        assert audited.findings("GL506", rollout__ep_rew_mean=kept) == ()


def test_a_reward_that_is_flat_after_it_collapsed():
    reward = np.r_[np.linspace(20, 200, 40), np.full(8, 200), 100, 9.4 + 0.1 * np.sin(7 * np.arange(25))]
    (told,) = audited.findings("GL506", rollout__ep_rew_mean=reward)
    assert told.severity.name == "WARNING"
    assert told.message == (
        "rollout/ep_rew_mean falls from 200 at step 43 to 9.394 at step 71: most of what was gained is lost"
    )
    reward[66:] = 180  # it came back
    assert audited.findings("GL506", rollout__ep_rew_mean=reward) == ()


def test_twenty_points_show_a_reward_that_collapses():
    reward = np.r_[np.linspace(30, 170, 12), 175, 132, 118, 44, 52, 68, 22, 9]
    (told,) = audited.findings("GL506", Environment__Cumulative_Reward=reward)
    assert told.severity.name == "WARNING"
    walk = np.cumsum(np.random.default_rng(5).standard_normal(60) + 0.3)  # which happens to fall at its end
    assert all(told.severity.name == "INFO" for told in audited.findings("GL506", rollout__ep_rew_mean=walk))
    smooth = 25 + np.r_[np.linspace(0, 1.5, 10), np.linspace(1.5, -3, 20)]  # it never gained much
    assert audited.findings("GL506", rollout__ep_rew_mean=smooth) == ()


def test_an_update_after_which_it_is_another_policy():
    kl = np.full(N, 0.02)
    kl[[40, 90]] = 12.0, 3e11
    (told,) = audited.findings("GL506", losses__approx_kl=kl, losses__old_approx_kl=kl, losses__policy_loss=kl)
    assert told.message == (
        "losses/approx_kl is 3e+11 at step 90, and above 10 at 2 of 200 points; so is losses/old_approx_kl: after such"
        " an update it is another policy"
    )
    assert (told.severity.name, told.steps, told.count) == ("WARNING", (40, 90), 2)
    assert audited.findings("GL506", objective__kl=kl, losses__policy_loss=kl) == ()  # from another model
    assert audited.findings("GL506", losses__approx_kl=np.minimum(kl, 9), losses__policy_loss=kl) == ()


def test_one_leap_in_thousands_of_updates_is_a_note_unless_the_reward_moves_with_it():
    n = np.arange(2000)
    kl = np.where(n == 1200, 12.0, 0.02)
    for reward, severity in ((10 + np.sin(n), "INFO"), (10 + np.sin(n) - 8 * (n > 1200), "WARNING")):
        told = audited.findings("GL506", losses__approx_kl=kl, rollout__ep_rew_mean=reward)
        assert {one.severity.name for one in told if one.tag == "losses/approx_kl"} == {severity}


def test_a_policy_that_learns_nothing():
    flat = 20 + np.random.default_rng(0).standard_normal(100)
    told = audited.findings(
        "GL506", rollout__ep_rew_mean=flat, train__entropy_loss=np.full(100, -0.69) + 1e-3 * np.sin(np.arange(100))
    )
    assert [one.severity.name for one in told] == ["WARNING"]
    assert told[0].message.endswith("; nor does train/entropy_loss move")
    assert not audited.findings("GL506", rollout__ep_rew_mean=flat, train__entropy_loss=-0.69 * 0.99 ** np.arange(100))
    rare = np.where(np.arange(100) % 20 == 3, 1.0, -0.6)
    assert audited.findings("GL506", rollout__ep_rew_mean=rare)[0].message.endswith("; at best it is 1")
    assert not audited.findings("GL506", rollout__ep_rew_mean=np.where(np.arange(100) > 20, 0.9, -0.6))


def test_a_reward_that_is_that_of_chance_when_nothing_is_random_any_more():
    reward, epsilon = -0.7 + 0.1 * np.sin(np.arange(N)), np.linspace(0.95, 0.05, N)
    told = audited.finding("GL506", **{"train/reward": reward, "train/eps": epsilon, "update/loss": 0.2 + 0 * reward})
    assert told.message.endswith(
        ", though train/eps falls from 0.95 at step 0 to 0.05 at step 199: it does no better than chance"
    )
    assert told.severity.name == "WARNING"
    rises = {"train/reward": reward + np.linspace(0, 1, N), "train/eps": epsilon, "update/loss": 0.2 + 0 * reward}
    assert audited.finding("GL506", **rises) is None


def test_a_policy_that_is_compared_with_a_reference_and_gains_nothing():
    n = np.arange(48)
    reward = 0.2 + 0.03 * np.sin(5 * n)
    about = "train/reward does not rise by more than its noise: about "

    def told(**others):
        found = audited.finding("GL506", **{"train/reward": reward, **{f"train/{tag}": v for tag, v in others.items()}})
        assert found is None or (found.message.startswith(about) and found.severity.name == "WARNING")
        return found and found.message.split(" (steps 32-47)", 1)[1]

    assert told(reward_std=0 * n) == "; train/reward_std is 0 throughout: no answer counts as better than another"
    assert told(reward_std=0.3 * 0.8**n).endswith(
        "to about 1.176e-05 (steps 44-47): all answers to a question are alike"
    )
    assert told(kl=1e-5 * n) == "; train/kl is never above 0.00047: the policy hardly leaves the reference"
    assert told(kl=0.02 * n) == (
        ", though train/kl rises from about 0.03 (steps 0-3) to about 0.91 (steps 44-47): the policy changes, and gains"
        " nothing"
    )
    assert told(kl=0.001 * n, reward_std=0.3 + 0.01 * np.sin(n)) is None
    assert told(approx_kl=0.02 * n) is None  # of an update


def test_a_critic_and_an_entropy_that_run_away_while_the_reward_stands():
    n = np.arange(48)
    of = {"rollout/ep_rew_mean": 2 * n - 1400.0, "eval/mean_reward": -1300 + 50 * np.sin(5 * n)}
    about = (
        "eval/mean_reward does not rise by more than its noise: about -1310 (steps 0-15), then about -1289"
        " (steps 32-47)"
    )

    def told(tag, value, **others):
        found = audited.finding("GL506", **(of | {f"train/{tag}": value} | others))
        return found and found.message.removeprefix(about)

    assert told("critic_loss", 30 * 1.1**n) == (
        ", while train/critic_loss rises from about 34.65 (steps 0-3) to about 2296 (steps 44-47): what the policy is"
        " told is wrong"
    )
    assert told("ent_coef", 1.1**n).endswith("to about 76.54 (steps 44-47): entropy counts more than the reward")
    assert told("ent_coef", 0.3**n).endswith(": nothing keeps the policy from one action")
    assert told("ent_coef", 0.9**n) is None
    assert told("critic_loss", 30 * 1.1**n, **{"eval/mean_reward": 20.0 * n}) is None  # it learns


def test_a_policy_that_is_hardly_better_than_the_random_one_it_was():
    n = np.arange(60)
    explores = np.maximum(1 - n / 40, 0.05)
    reward = -1.05 + 0.1 * np.maximum(n - 40, 0) / 20
    found = audited.finding("GL506", **{"rollout/ep_rew_mean": reward, "rollout/exploration_rate": explores})
    assert found.message == (
        "rollout/ep_rew_mean hardly rises: about -1.05 (steps 0-19), then about -1.002 (steps 40-59), though"
        " rollout/exploration_rate falls from 1 at step 0 to 0.05 at step 59: it does no better than chance"
    )
    learns = {"rollout/ep_rew_mean": 4 * reward + 3.2, "rollout/exploration_rate": explores}
    assert audited.finding("GL506", **learns) is None
    always = {"rollout/ep_rew_mean": -1 + 0.1 * np.sin(5 * n), "rollout/exploration_rate": np.ones(60)}
    assert "is never below 1: it acts at random all along" in audited.finding("GL506", **always).message
