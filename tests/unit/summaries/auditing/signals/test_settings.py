"""Which tags are settings, and where they change."""

import numpy as np
import pytest
from labelled.runs import as_run, columns

from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of

N = 200
STEP = np.arange(N) // 100


def found(**values):
    run = as_run(np.random.default_rng(0), {tag.replace("__", "/"): columns(value) for tag, value in values.items()})
    return {setting.tag: setting.at.tolist() for setting in signals_of("run", run, Config()).settings}


@pytest.mark.parametrize("tag", ["train/seq_len", "batch-size", "kl_weight", "data/weight_web", "use_dice", "foo"])
def test_a_tag_that_stays_and_changes_in_steps_is_a_setting(tag):
    assert found(**{tag: 1 + STEP}) == {tag: [100]}


@pytest.mark.parametrize(
    ("tag", "values"),
    [
        ("foo", np.full(N, 2.0)),  # it never changes
        ("foo", np.random.default_rng(0).standard_normal(N)),  # it is measured
        ("seq_len", np.random.default_rng(0).choice([64, 128, 256], N)),  # it is drawn for each point
        ("best_loss", 2 - STEP),
        ("train/score", 0.9 + 0.025 * STEP),
        ("test_f1", 0.9 + 0.025 * STEP),
        ("skipped_steps", STEP),
        ("train/loss", 2 - STEP),
        ("lr", 1 / (1 + STEP)),
        ("epoch", STEP),
        ("foo", np.arange(N)),  # a ramp may be any count
        ("weight_decay", np.linspace(0.04, 0.4, N)),
    ],
)
def test_what_is_no_setting(tag, values):
    assert found(**{tag: values}) == {}


def test_a_ramp_is_a_setting_if_its_name_is_known():
    ramp = np.clip(np.arange(N) / 100, 0, 1)
    assert found(train__beta=ramp) == {"train/beta": list(range(1, 101))}
    assert found(train__beta=ramp + 0.01 * np.random.default_rng(0).standard_normal(N)) == {}


def test_known_names_come_first():
    assert list(found(foo=STEP, image_size=128 + STEP)) == ["image_size", "foo"]
