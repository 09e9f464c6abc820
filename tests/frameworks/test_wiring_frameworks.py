"""Frameworks' callbacks pass through the hook: their trainings are left alone, and their mistakes are named."""

import warnings

import pytest
from frameworks.reference_loop import CLIP, LR, batches, network

from summaries import read_logdir

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.torch import WiringWarning  # noqa: E402 - it needs torch

STEPS = 8


class Net(torch.nn.Module):
    """A network that may cut its graph."""

    def __init__(self, *, cut=False):
        super().__init__()
        self.body, self.head, self.cut = network(torch)[:2], torch.nn.Linear(18, 1), cut

    def forward(self, x):
        hidden = self.body(x)
        return self.head(hidden.detach() if self.cut else hidden)


def codes(train, logdir):
    """The codes of what is told, which the run has too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train()
    told = [str(w.message)[-6:-1] for w in caught if issubclass(w.category, WiringWarning)]
    texts = [tag for run in read_logdir(logdir).values() for tag in run.texts if tag.startswith("wiring/")]
    assert len(texts) == len(told)
    return told


def by_lightning(logdir, net, of_head):
    lightning = pytest.importorskip("lightning.pytorch", reason="lightning is not installed: make frameworks")
    from optim.integrations.lightning import GradientCallback

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = net

        def training_step(self, batch, number):
            return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])

        def configure_optimizers(self):
            optimizer = torch.optim.Adam(net.head.parameters() if of_head else self.parameters(), LR)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 5)]

    trainer = lightning.Trainer(
        max_epochs=2, gradient_clip_val=CLIP, callbacks=[GradientCallback(logdir)], logger=False, accelerator="cpu",
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(Module(), torch.utils.data.DataLoader(batches(torch, STEPS), batch_size=None))


def by_transformers(logdir, net, of_head):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed: make frameworks")
    pytest.importorskip("accelerate", reason="accelerate is not installed: make frameworks")
    from optim.integrations.huggingface import GradientCallback

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = net

        def forward(self, x, labels):
            scores = self.net(x)
            return {"loss": torch.nn.functional.mse_loss(scores, labels), "logits": scores}

    model = Model()
    arguments = transformers.TrainingArguments(
        f"{logdir}-out", max_steps=STEPS, per_device_train_batch_size=4, max_grad_norm=CLIP, report_to="none",
        use_cpu=True, save_strategy="no", disable_tqdm=True, learning_rate=LR, warmup_steps=2,
    )  # fmt: skip
    rows = [{"x": x, "labels": y} for xs, ys in batches(torch, STEPS) for x, y in zip(xs, ys, strict=True)]
    optimizers = (torch.optim.Adam(net.head.parameters(), LR), None) if of_head else (None, None)
    transformers.Trainer(
        model, arguments, train_dataset=rows, callbacks=[GradientCallback(logdir)], optimizers=optimizers
    ).train()  # fmt: skip


def by_ignite(logdir, net, of_head):
    engines = pytest.importorskip("ignite.engine", reason="pytorch-ignite is not installed: make frameworks")
    from optim.integrations.ignite import attach

    optimizer = torch.optim.Adam((net.head if of_head else net).parameters(), LR)

    def update(engine, batch):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(batch[0]), batch[1]).backward()
        optimizer.step()

    engine = engines.Engine(update)
    attach(engine, optimizer, logdir, net)
    engine.run(batches(torch, STEPS))


def by_accelerate(logdir, net, of_head):
    accelerate = pytest.importorskip("accelerate", reason="accelerate is not installed: make frameworks")
    from optim.integrations.accelerate import attach

    accelerator = accelerate.Accelerator(cpu=True, gradient_accumulation_steps=2)
    made = torch.optim.Adam((net.head if of_head else net).parameters(), LR)
    model, optimizer, schedule = accelerator.prepare(net, made, torch.optim.lr_scheduler.StepLR(made, 100))
    hook = attach(accelerator, optimizer, logdir, model)
    for x, y in batches(torch, 2 * STEPS):
        with accelerator.accumulate(model):
            accelerator.backward(torch.nn.functional.mse_loss(model(x), y))
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    hook.remove()


TRAINERS = [by_lightning, by_transformers, by_ignite, by_accelerate]


@pytest.mark.parametrize("train", TRAINERS)
def test_a_training_is_left_alone(train, logdir):
    assert codes(lambda: train(logdir, Net(), of_head=False), logdir) == []


@pytest.mark.parametrize("train", TRAINERS)
def test_a_part_that_is_not_in_the_optimizer(train, logdir):
    assert codes(lambda: train(logdir, Net(), of_head=True), logdir) == ["GL701"]


@pytest.mark.parametrize("train", TRAINERS)
def test_an_accidental_detach(train, logdir):
    assert codes(lambda: train(logdir, Net(cut=True), of_head=False), logdir) == ["GL711"]
