"""Accelerate: prepared optimizers, accumulated gradients."""

import pytest
from frameworks.examples import check_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.accelerate import attach  # noqa: E402 - it needs torch


@pytest.mark.parametrize("clip", [CLIP, None])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_before_clipping(logdir, clip, accumulate):
    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=accumulate)
    model = network(torch)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), LR))
    hook = attach(accelerator, optimizer, logdir, model)
    for x, y in batches(torch, STEPS * accumulate):
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            if accelerator.sync_gradients and clip is not None:
                accelerator.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            optimizer.zero_grad()
    hook.remove()
    compare(logdir, by_hand(torch, clip, accumulate), clip)


def test_deepspeed_is_refused():
    accelerator = type("Accelerator", (), {"distributed_type": accelerate.DistributedType.DEEPSPEED})
    with pytest.raises(ValueError, match=r"^gradients must be the model's, got DEEPSPEED, which keeps them to itself"):
        attach(accelerator, None, "nowhere", None)


def test_the_example(logdir):
    check_example("accelerate", logdir, "2.weight", 32)
