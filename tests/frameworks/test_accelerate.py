"""Accelerate: prepared optimizers, accumulated gradients."""

import pytest
from frameworks.examples import check_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network

from summaries import read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.accelerate import EventFileTracker, attach  # noqa: E402 - it needs torch


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


def test_what_the_loop_logs(logdir):
    """Into the same file as the gradients."""
    accelerator = accelerate.Accelerator(cpu=True)
    model = network(torch)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), LR))
    attach(accelerator, optimizer, logdir, model)
    accelerator.init_trackers("project", {"lr": LR})
    model(batches(torch)[0][0]).sum().backward()
    optimizer.step()
    accelerator.log({"eval/loss": torch.tensor(0.5), "note": "half", "many": [1, 2]}, step=3)
    accelerator.end_training()  # what is read at once afterwards is all that there is
    run = read_run(logdir)
    assert len(run.scalars["gradients/global_norm"]) == 1
    assert run.hparams == {"lr": LR}
    assert (run.scalars["eval/loss"].step.tolist(), run.scalars["eval/loss"].value.tolist()) == ([3], [0.5])
    assert run.texts["note/text_summary"][0] == "half"
    assert len(run.files) == 1


def test_a_second_run_logs_to_its_own_directory(tmp_path):
    accelerator = accelerate.Accelerator(cpu=True)
    model = network(torch)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), LR))
    for name, value in (("a", 1.0), ("b", 2.0)):
        hook = attach(accelerator, optimizer, tmp_path / name, model)
        accelerator.log({"eval/loss": value}, step=1)
        hook.remove()
    assert [read_run(tmp_path / name).scalars["eval/loss"].value.tolist() for name in "ab"] == [[1.0], [2.0]]


def test_the_tracker_by_itself(logdir):
    accelerator = accelerate.Accelerator(cpu=True, log_with=EventFileTracker(logdir))
    accelerator.init_trackers("project", {"lr": LR, "layers": [1, 2]})
    accelerator.log({"train/loss": 2.0}, step=1)
    accelerator.log({"train/loss": 1.0}, step=2)
    accelerator.end_training()
    run = read_run(logdir)
    assert run.scalars["train/loss"].value.tolist() == [2.0, 1.0]
    assert run.hparams == {"lr": LR, "layers": "[1, 2]"}


def test_deepspeed_is_refused():
    accelerator = type("Accelerator", (), {"distributed_type": accelerate.DistributedType.DEEPSPEED})
    with pytest.raises(ValueError, match=r"^gradients must be the model's, got DEEPSPEED, which keeps them to itself"):
        attach(accelerator, None, "nowhere", None)


def test_the_example(logdir):
    check_example("accelerate", logdir, "2.weight", 32)
