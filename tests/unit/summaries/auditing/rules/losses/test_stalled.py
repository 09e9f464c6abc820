"""GL307 and GL308: what is said of runs that stand still, and of those that do not."""

import numpy as np
import pytest
from audits import audited
from labelled import runs as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run


@pytest.mark.parametrize(
    ("tag", "told"),
    [
        ("val/accuracy", True), ("metrics/mAP_0.5", True), ("eval/f1", True), ("train/loss", True),
        ("val_MAPE", True), ("rollout/ep_rew_mean", True),
        ("epoch", False), ("lr", False), ("batch_size", False), ("gpu/memory", False), ("vocabulary", False),
    ],
)  # fmt: skip
def test_which_constants_are_told(tag, told):
    found = audited.findings("GL307", **{tag: np.full(30, 0.25)})
    assert [finding.message for finding in found] == ([f"{tag} is 0.25 at all 30 points"] if told else [])


def test_a_configuration_says_what_is_no_metric():
    run = labelled.as_run(np.random.default_rng(0), {"val/accuracy": labelled.columns(np.full(30, 0.25))})
    assert [finding.code for finding in audit_run("run", run, Config(select=("GL307",))).findings] == ["GL307"]
    assert audit_run("run", run, Config(select=("GL307",), tags=(("", "val/accuracy"),))).findings == ()


def test_what_varies_or_has_few_points_is_no_constant():
    assert audited.finding("GL307", val__accuracy=np.r_[np.full(30, 0.1), 0.2]) is None
    assert audited.finding("GL307", val__accuracy=np.full(10, 0.1)) is None
    assert audited.finding("GL307", val__accuracy=np.full(30, np.nan)) is None


def test_nothing_right_is_a_warning_unless_a_policy_may_yet_succeed():
    nothing = np.zeros(30)
    assert audited.finding("GL307", val__accuracy=nothing).severity.name == "INFO"
    assert audited.finding("GL316", val__accuracy=nothing).message == "val/accuracy is exactly 0 at all 30 points"
    rare = audited.finding("GL307", rollout__success_rate=nothing, rollout__ep_rew_mean=0.1 * (np.arange(30) > 28))
    assert rare.severity.name == "INFO"


def test_a_plateau():
    loss = labelled.decay(600, 4.0, 0.4, 0.03)
    found = audited.finding("GL308", train__loss=loss)
    assert found.steps[1] == 599
    assert 40 < found.steps[0] < 200
    assert found.message.startswith("train/loss falls from 4 at step 0 to about 0.4 (steps 99-599)")
    assert found.message.endswith(", its level for 84% of its points")


def test_a_slow_fall_a_rise_and_a_flat_loss_are_no_plateau():
    n = np.arange(600)
    assert audited.finding("GL308", train__loss=4.0 - 3 * n / 600) is None
    assert audited.finding("GL308", train__loss=(1.0 + n) ** -0.1) is None
    assert audited.finding("GL308", train__loss=labelled.decay(600, 4.0, 0.4, 0.03) + n / 200) is None
    assert audited.finding("GL308", train__loss=np.full(600, 2.3)) is None


def test_a_plateau_is_told_in_medians_and_is_no_jump():
    n = np.arange(300)
    loss = 0.5 + 0.9**n + 0.05 * np.sin(9 * n)
    found = audited.finding("GL308", train__loss=loss)
    assert found.message.endswith(" to about 0.4985 (steps 59-299), its level for 80% of its points")
    assert (
        audited.finding("GL308", train__loss=0.01 + 2 * 0.95**n + 4 * (n > 140) * 0.97 ** np.maximum(n - 140, 0))
        is None
    )


def test_what_comes_down_from_a_jump_to_above_its_first_point_is_no_plateau():
    step = np.arange(200)
    loss = np.r_[2.3, 5.0 + 1000 * 0.7 ** step[1:]] + 0.01 * np.sin(step)
    assert audited.finding("GL308", train__loss=loss) is None
    assert audited.finding("GL308", train__loss=np.r_[2000, loss[1:]]) is not None
