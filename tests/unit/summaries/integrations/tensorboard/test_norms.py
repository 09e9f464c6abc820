"""Norms: what the page's line for a bound says is what clip-advice says."""

import numpy as np
import pytest

from summaries import SummaryWriter, clip_advice, read_run
from summaries.auditing.config import Config
from summaries.auditing.engine import signals_of
from summaries.integrations.tensorboard.norms import norms


def signals(directory, logged):
    with SummaryWriter(directory) as writer:
        for tag, values in logged.items():
            for step, value in enumerate(values):
                writer.add_scalar(tag, value, step)
    return signals_of("a", read_run(directory), Config())


def share_above(found, bound):
    return np.mean(np.array(found["sorted"]) > bound)


def test_the_shares_are_those_of_the_advice(tmp_path):
    values = np.random.default_rng(0).lognormal(size=1500).astype(np.float32)
    found = norms(signals(tmp_path, {"gradients/global_norm": values, "gradients/clip_norm": [2.0] * 5}))
    advice = clip_advice(tmp_path, bounds=[0.5, 1.0, 3.0])
    assert {bound: share_above(found, bound) for bound in advice.would_clip} == advice.would_clip
    assert (found["steps"], found["nonfinite"], found["bound"]) == (1500, 0, 2.0)
    assert found["suggested"] == advice.suggested
    assert found["capped"] is False


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_many_norms_are_thinned_to_a_twentieth_of_a_percent(tmp_path):
    values = np.random.default_rng(0).lognormal(size=9000).astype(np.float32)
    found = norms(signals(tmp_path, {"gradients/global_norm": [*values, np.nan]}))
    assert len(found["sorted"]) == 2001
    assert (found["steps"], found["nonfinite"]) == (9001, 1)
    assert share_above(found, 1.0) == pytest.approx(np.mean(values > 1), abs=0.0005)
    assert (found["sorted"][0], found["sorted"][-1]) == (values.min(), values.max())


def test_the_norm_of_everything_comes_first(tmp_path):
    logged = {"gradients/norm/a": [1.0], "train/grad_norm": [2.0, 2.0, 2.0] * 20, "loss": [1.0]}
    found = norms(signals(tmp_path, logged))
    assert found["tags"] == ["train/grad_norm", "gradients/norm/a"]
    assert (found["tag"], found["capped"], found["bound"]) == ("train/grad_norm", True, None)
    assert norms(signals(tmp_path, {}), "gradients/norm/a")["sorted"] == [1.0]


def test_no_norms(tmp_path):
    run = signals(tmp_path, {"loss": [1.0]})
    assert norms(run) == {"tags": [], "tag": None}
    with pytest.raises(LookupError, match="no scalars with tag 'x'; tags with 'norm' in them: none"):
        norms(run, "x")
