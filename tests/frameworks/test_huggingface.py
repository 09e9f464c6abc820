"""transformers' Trainer: before clipping, though its callbacks come after it."""

import sys

import pytest
from frameworks.examples import check_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network

import summaries
from summaries import SummaryWriter, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
transformers = pytest.importorskip("transformers", reason="transformers is not installed: make frameworks")
pytest.importorskip("accelerate", reason="accelerate is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.huggingface import GradientCallback  # noqa: E402 - it needs transformers


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = network(torch)

    def forward(self, x, labels):
        scores = self.net(x)
        return {"loss": torch.nn.functional.mse_loss(scores, labels), "logits": scores}


class InOrder(transformers.Trainer):
    def _get_train_sampler(self, *_):
        return torch.utils.data.SequentialSampler(self.train_dataset)


def train(tmp_path, clip, accumulate=1, callback=None, callbacks=(), **settings):
    rows = [(x, y) for xs, ys in batches(torch, STEPS * accumulate) for x, y in zip(xs, ys, strict=True)]
    arguments = transformers.TrainingArguments(
        str(tmp_path / "out"), max_steps=STEPS, per_device_train_batch_size=4, gradient_accumulation_steps=accumulate,
        max_grad_norm=clip, learning_rate=LR, lr_scheduler_type="constant", optim="sgd", report_to="none",
        use_cpu=True, save_strategy="no", disable_tqdm=True, logging_steps=1, **settings,
    )  # fmt: skip
    data = [{"x": x, "labels": y} for x, y in rows]
    trainer = InOrder(
        Model(), arguments, train_dataset=data, eval_dataset=data[:4],
        callbacks=[*callbacks, callback or GradientCallback(tmp_path / "run")],
    )  # fmt: skip
    trainer.train()
    return trainer


@pytest.mark.parametrize("accumulate", [1, 2])
def test_before_clipping(tmp_path, accumulate):
    train(tmp_path, CLIP, accumulate)
    compare(tmp_path / "run", by_hand(torch, accumulate=accumulate), prefix="net.")


def test_without_clipping(tmp_path):
    before = torch.nn.utils.clip_grad_norm_
    train(tmp_path, 0.0)
    compare(tmp_path / "run", by_hand(torch, None), None, prefix="net.")
    assert torch.nn.utils.clip_grad_norm_ is before


def test_what_the_trainer_reports(tmp_path):
    """Under the tags of its own callback for TensorBoard, after the training too."""
    trainer = train(tmp_path, CLIP, eval_strategy="steps", eval_steps=3)
    trainer.evaluate(metric_key_prefix="test")
    run = read_run(tmp_path / "run")
    reported = {entry["step"]: entry["loss"] for entry in trainer.state.log_history if "loss" in entry}
    losses = run.scalars["train/loss"]
    assert dict(zip(losses.step.tolist(), losses.value.tolist(), strict=True)) == pytest.approx(reported, rel=1e-5)
    assert run.scalars["eval/loss"].step.tolist() == [3, 6]
    assert run.scalars["train/learning_rate"].step.tolist() == list(range(1, STEPS + 1))
    assert {"eval/samples_per_second", "train/train_runtime", "train/epoch", "test/loss"} <= set(run.scalars)
    assert run.hparams["learning_rate"] == LR
    assert '"max_grad_norm"' in run.texts["args/text_summary"][0]


def test_what_is_logged_elsewhere(tmp_path):
    train(tmp_path, CLIP, callback=GradientCallback(tmp_path / "run", log_metrics=False))
    run = read_run(tmp_path / "run")
    assert "train/loss" not in run.scalars
    assert not run.hparams
    assert not run.texts


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("shared", ["writer", "directory"])
def test_what_another_callback_logs_to_the_same_run(tmp_path, monkeypatch, shared, order):
    from transformers.integrations import TensorBoardCallback, integration_utils

    monkeypatch.setattr(integration_utils, "is_tensorboard_available", lambda: True)
    monkeypatch.setitem(sys.modules, "tensorboardX", summaries)  # whose writer stands in for the other one
    with SummaryWriter(tmp_path / "run") as writer, SummaryWriter(tmp_path / "run") as other:
        ours = GradientCallback(writer if shared == "writer" else tmp_path / "run")
        theirs = TensorBoardCallback(tb_writer=writer if shared == "writer" else other)
        first, second = (theirs, ours)[::order]
        train(tmp_path, CLIP, callback=second, callbacks=[first])
    losses = read_run(tmp_path / "run").scalars["train/loss"]
    assert losses.step.tolist() == list(range(1, STEPS + 1))


def test_deepspeed_is_refused():
    callback = GradientCallback("nowhere")
    with pytest.raises(ValueError, match=r"^gradients must be the model's, got DeepSpeed, which keeps them to itself"):
        callback.on_train_begin(type("Arguments", (), {"deepspeed": "config.json"}), None, None)


def test_the_example(logdir):
    check_example("huggingface", logdir, "bert.encoder.layer.1.output.dense.weight", 60)
