"""The example of each integration runs, and logs what it says."""

from importlib.util import find_spec

import pytest
from helpers import ROOT, run

from summaries import audit, read_logdir

NEEDED = {
    "torch": "torch",
    "huggingface": "transformers",
    "lightning": "lightning",
    "keras": "keras",
    "accelerate": "accelerate",
    "ignite": "ignite",
    "optax": "optax",
}
VARIABLES = {
    "torch": "0.weight",
    "huggingface": "bert.encoder.layer.1.output.dense.weight",
    "lightning": "net.2.bias",
    "keras": "sequential/dense_1/kernel",
    "accelerate": "2.weight",
    "ignite": "0.bias",
    "optax": "hidden/w",
}
STEPS = {"torch": 20, "huggingface": 60, "lightning": 64, "keras": 64, "accelerate": 32, "ignite": 64, "optax": 100}


@pytest.mark.parametrize("name", NEEDED)
def test_it_runs(name, logdir):
    if find_spec(NEEDED[name]) is None:
        pytest.skip(f"{NEEDED[name]} is not installed: make frameworks")
    run(ROOT / f"examples/gradients_{name}.py", logdir)
    runs = read_logdir(logdir)
    scalars = runs["."].scalars
    for tag in ("global_norm", "clipped_global_norm", f"norm/{VARIABLES[name]}"):
        assert len(scalars[f"gradients/{tag}"]) == STEPS[name], tag
    before, after = (scalars[f"gradients/{tag}"].value for tag in ("global_norm", "clipped_global_norm"))
    assert (after <= before).all()
    assert (after < before).any()


def test_the_spoilt_batch_is_recorded(logdir):
    pytest.importorskip("torch", reason="torch is not installed: make frameworks")
    run(ROOT / "examples/gradients_torch.py", logdir)
    incident = read_logdir(logdir)["incident=150"]
    assert incident.scalars["train/loss"].step.tolist() == list(range(101, 163))
    assert incident.texts["incident/text_summary"][0] == "a spike of the loss and a spike of the gradients' norm"
    assert {finding.code for finding in audit(str(logdir)).findings if finding.run == "incident=150"} >= {"GL302"}
