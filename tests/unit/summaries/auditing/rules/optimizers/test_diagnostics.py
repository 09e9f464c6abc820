"""GL509 to GL512, on what our optimizers log of trainings: healthy ones, and such with the mistake."""

import numpy as np
import pytest
from audits.audited import codes, finding

import optim
from summaries import SummaryWriter, audit

SIZE, STEPS = 24, 60


def trained(tmp_path, make, *, scale=1.0, rank=SIZE, turn=False):
    """The codes that the audit finds in a least-squares training."""
    random = np.random.default_rng(0)
    x = random.normal(size=(200, rank)) @ random.normal(size=(rank, SIZE)) / np.sqrt(rank)
    goal = x @ random.normal(size=(SIZE, SIZE))
    w = optim.Variable(np.full((SIZE, SIZE), 0.01), name="w", dtype=np.float64)
    with SummaryWriter(str(tmp_path)) as writer:
        optimizer = optim.with_summaries(make(), writer, diagnostics=True)
        for step in range(STEPS):
            rows = random.integers(200, size=64)
            error = x[rows] @ w.value - goal[rows]
            writer.add_scalar("train/loss", scale * float(np.mean(error**2)), step)
            g = scale * x[rows].T @ error / 64
            optimizer.apply_gradients([(-g if turn and step % 2 else g, w)])
    return {finding.code for finding in audit(str(tmp_path)).findings} & {"GL509", "GL510", "GL511", "GL512"}


HEALTHY = {
    "Adam": lambda: optim.AdamOptimizer(1e-2),
    "AdamW": lambda: optim.AdamWOptimizer(1e-2),
    "Muon": lambda: optim.MuonOptimizer(1e-2),
    "Prodigy": lambda: optim.ProdigyOptimizer(1.0),
}
FAULTY = {
    "GL509": (lambda: optim.AdamOptimizer(1e-2), {"scale": 1e-12}),
    "GL511": (lambda: optim.MuonOptimizer(1e-2), {"rank": 3}),
    "GL512": (lambda: optim.ProdigyOptimizer(1.0), {"turn": True}),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_training(name, tmp_path):
    assert trained(tmp_path, HEALTHY[name]) == set()


@pytest.mark.parametrize("code", FAULTY)
def test_the_mistake(code, tmp_path):
    make, how = FAULTY[code]
    assert trained(tmp_path, make, **how) == {code}


def test_an_iteration_that_grows(tmp_path):
    found = trained(tmp_path, lambda: optim.MuonOptimizer(1e-3, ns_coefficients=(3.0, -1.0, 0.1)))
    assert found == {"GL511"}
    message = finding("GL511", optimizer__orthogonality_residual__w=np.full(20, 3.0)).message
    assert message == "Muon's update of w is 3 from orthogonal, per vector: the iteration grows"


def test_what_is_said_of_epsilon():
    share = {f"optimizer__epsilon_share__{name}": np.full(20, 0.95) for name in ("a", "b", "c")}
    assert finding("GL509", **share).message == (
        "ε is larger than the root of the second moment of 95% of a, and of 2 variables more: the step there is that of"
        " momentum, with the rate divided by ε"
    )
    dead = finding("GL509", optimizer__epsilon_share__a=np.ones(20), gradients__norm__a=np.zeros(20))
    assert dead is None


N = 400
NOISE = np.random.default_rng(0).standard_normal((2, N))


def stale(loss_at, stale_at):
    loss, rms = 2 + 0.02 * NOISE[0], 1 + 0.1 * NOISE[1]
    loss[loss_at : loss_at + 5] += 5
    rms[stale_at] = 4.0
    return finding("GL510", train__loss=loss, optimizer__gradient_rms__w=rms)


def test_what_is_said_of_a_stale_moment():
    found = stale(200, 195)
    assert found.message == (
        "the gradient of w is above 2.3 times the root of its second moment at step 195, and train/loss spikes at step"
        " 200; so for 1 of 1 spike"
    )
    assert (found.tag, found.steps) == ("optimizer/gradient_rms/w", (195, 204))


@pytest.mark.parametrize(("loss_at", "stale_at"), [(200, 200), (200, 203), (200, 190), (300, 100)])
def test_what_is_no_stale_moment(loss_at, stale_at):
    assert stale(loss_at, stale_at) is None


def test_a_reward_is_no_reason_for_a_stale_moment():
    loss, rms = 2 + 0.02 * NOISE[0], np.ones(N)
    loss[200:205] += 5
    rms[198] = 4.0
    assert "GL510" not in codes(train__loss=loss, rollout__ep_rew_mean=loss, optimizer__gradient_rms__w=rms)
