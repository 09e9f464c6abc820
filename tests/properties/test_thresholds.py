"""Within the ranges that thresholds declare, no rule fails, whatever a run holds."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled import runs as labelled

from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run
from summaries.auditing.rules import RULES

LARGE = 1e300
TAGS = (
    "train/loss", "val/loss", "lr", "gradients/global_norm", "gradients/clipped", "gradients/clip_norm",
    "gradients/norm/a", "gradients/norm/b", "gradients/norm/c", "weights/norm/a", "updates/norm/a", "updates/ratio/b",
    "slots/m/norm/a",
)  # fmt: skip


def extremes(threshold):
    """The least and the largest that a threshold may be, nearly."""
    least = math.nextafter(threshold.low, math.inf) if threshold.beyond else threshold.low
    largest = min(threshold.high, LARGE)
    return (int(least), 10**9) if threshold.whole else (least, largest)


@functools.cache
def short_run(n, seed):
    """Every kind of tag, in n points: noise, zeros, and now and then what no curve has; made once for all rules."""
    rng = np.random.default_rng(seed)
    values = {}
    for tag in TAGS:
        value = np.exp(rng.normal(size=n) * rng.choice([0.01, 1.0, 30.0])) * rng.choice([0.0, 1.0, 1.0])
        value[rng.random(n) < rng.choice([0.0, 0.3])] = rng.choice([0.0, -1.0, 1e38, np.nan, np.inf])
        values[tag] = labelled.columns(value)
    return labelled.as_run(rng, values)


@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.thresholds])
@pytest.mark.parametrize("which", [0, 1])
def test_at_the_ends_of_their_ranges(code, which):
    limits = {name: extremes(threshold)[which] for name, threshold in RULES[code].thresholds.items()}
    config = Config(select=(code,), thresholds={code: limits})
    for seed, n in enumerate([1, 2, 3, 4, 5, 6, 7, 10, 20, 21, 50, 300]):
        run = short_run(n, seed)
        audit_run("run", run, config, [short_run(n, seed + 100)])


@given(st.data())
def test_anywhere_within(data):
    code = data.draw(st.sampled_from([code for code, rule in RULES.items() if rule.thresholds]))
    limits = {}
    for name, threshold in RULES[code].thresholds.items():
        low, high = extremes(threshold)
        values = st.integers(low, max(low, 40)) if threshold.whole else st.floats(low, high)
        limits[name] = data.draw(values, name)
    run = short_run(data.draw(st.integers(1, 80)), data.draw(st.integers(0, 1000)))
    audit_run("run", run, Config(select=(code,), thresholds={code: limits}), [run])
