"""transformers' Trainer: before clipping, though its callbacks come after it."""

import pytest
from frameworks.examples import check_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network

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


def train(tmp_path, clip, accumulate=1, callback=None, **settings):
    rows = [(x, y) for xs, ys in batches(torch, STEPS * accumulate) for x, y in zip(xs, ys, strict=True)]
    arguments = transformers.TrainingArguments(
        str(tmp_path / "out"), max_steps=STEPS, per_device_train_batch_size=4, gradient_accumulation_steps=accumulate,
        max_grad_norm=clip, learning_rate=LR, lr_scheduler_type="constant", optim="sgd", report_to="none",
        use_cpu=True, save_strategy="no", disable_tqdm=True, logging_steps=1, **settings,
    )  # fmt: skip
    InOrder(
        Model(),
        arguments,
        train_dataset=[{"x": x, "labels": y} for x, y in rows],
        callbacks=[callback or GradientCallback(tmp_path / "run")],
    ).train()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_before_clipping(tmp_path, accumulate):
    train(tmp_path, CLIP, accumulate)
    compare(tmp_path / "run", by_hand(torch, accumulate=accumulate), prefix="net.")


def test_without_clipping(tmp_path):
    before = torch.nn.utils.clip_grad_norm_
    train(tmp_path, 0.0)
    compare(tmp_path / "run", by_hand(torch, None), None, prefix="net.")
    assert torch.nn.utils.clip_grad_norm_ is before


def test_deepspeed_is_refused():
    callback = GradientCallback("nowhere")
    with pytest.raises(ValueError, match=r"^gradients must be the model's, got DeepSpeed, which keeps them to itself"):
        callback.on_train_begin(type("Arguments", (), {"deepspeed": "config.json"}), None, None)


def test_the_example(logdir):
    check_example("huggingface", logdir, "bert.encoder.layer.1.output.dense.weight", 60)
