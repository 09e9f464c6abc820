"""GL404 and GL405: since when, and how often, steps were clipped."""

import numpy as np
import pytest
from audits.audited import finding, findings


def found(**values):
    """What is found on clipping in a run of these tags' values: (code, message, steps)."""
    hits = findings("GL404", "GL405", **values)
    return [(hit.code, hit.message, hit.steps) for hit in hits]


@pytest.mark.parametrize(
    ("first", "missed", "told"),
    [
        (0, [], ("every step was clipped", (0, 99))),
        (30, [], ("every step since step 30 was clipped", (30, 99))),
        (50, [], ("every step since step 50 was clipped", (50, 99))),
        (0, [70], ("99.0% of the steps were clipped", (0, 99))),
        (20, [60, 80], ("97.5% of the steps since step 20 were clipped", (20, 99))),
    ],
)
def test_it_is_told_since_when(first, missed, told):
    clipped = np.arange(100) >= first
    clipped[missed] = False
    assert found(gradients__clipped=clipped) == [("GL404", *told)]


def test_a_step_of_many_is_not_rounded_away():
    clipped = np.ones(100_000)
    clipped[1000] = 0
    assert found(gradients__clipped=clipped) == [("GL404", "99.9% of the steps were clipped", (0, 99_999))]


@pytest.mark.parametrize(("points", "codes"), [(99, []), (100, ["GL404"])])
def test_fewer_may_be_warm_up(points, codes):
    assert [code for code, *_ in found(gradients__clipped=np.ones(points))] == codes


def test_a_policys_ratios_are_clipped_for_another_reason():
    ones = np.ones(100)
    assert [code for code, *_ in found(train__clip_fraction=ones)] == ["GL404"]
    assert found(train__clip_fraction=ones, rollout__ep_rew_mean=ones) == []
    assert [code for code, *_ in found(gradients__clipped=ones, rollout__ep_rew_mean=ones)] == ["GL404"]


def test_clip_is_a_share_beside_gnorm_only():
    clip = np.full(200, 100.0)
    assert finding("GL404", clip=clip, gnorm=np.ones(200)).evidence["fraction"] == 1.0
    assert finding("GL404", clip=clip, grad_norm=np.ones(200)) is None
    assert finding("GL405", clip=0 * clip, gnorm=np.ones(200)) is not None
