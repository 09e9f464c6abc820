"""Lightning's Trainer: automatic and manual optimization, two optimizers, mixed precision, an exception."""

import numpy as np
import pytest
from frameworks.examples import check_example
from frameworks.reference_loop import CLIP, LR, STEPS, batches, by_hand, compare, network

from summaries import read_logdir, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
lightning = pytest.importorskip("lightning.pytorch", reason="lightning is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

from optim.integrations.lightning import EventFileLogger, GradientCallback  # noqa: E402 - it needs lightning


class Module(lightning.LightningModule):
    def __init__(self, *, spoilt=None, fused=False):
        super().__init__()
        self.net = network(torch)
        self.spoilt, self.fused = spoilt, fused

    def training_step(self, batch, number):
        if number == self.spoilt:
            raise RuntimeError("no more data")
        return torch.nn.functional.mse_loss(self.net(batch[0]), batch[1])

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), LR, fused=self.fused)


class Manual(Module):
    automatic_optimization = False

    def training_step(self, batch, number):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(super().training_step(batch, number))
        self.clip_gradients(optimizer, CLIP, "norm")
        optimizer.step()


class TwoOptimizers(Module):
    automatic_optimization = False

    def training_step(self, batch, number):
        loss = super().training_step(batch, number)
        for optimizer in self.optimizers():
            optimizer.zero_grad()
        self.manual_backward(loss)
        for optimizer in self.optimizers():
            optimizer.step()

    def configure_optimizers(self):
        return [torch.optim.SGD(self.net[i].parameters(), LR) for i in (0, 2)]


def fit(tmp_path, module, clip=None, accumulate=1, **settings):
    options = settings.pop("options", {})
    trainer = lightning.Trainer(
        max_epochs=1, gradient_clip_val=clip, accumulate_grad_batches=accumulate, accelerator="cpu", devices=1,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        default_root_dir=tmp_path, callbacks=[GradientCallback(tmp_path / "run", **options)], **settings,
    )  # fmt: skip
    trainer.fit(module, torch.utils.data.DataLoader(batches(torch, STEPS * accumulate), batch_size=None))


@pytest.mark.parametrize("accumulate", [1, 2])
def test_before_clipping(tmp_path, accumulate):
    fit(tmp_path, Module(), CLIP, accumulate)
    scalars = compare(tmp_path / "run", by_hand(torch, accumulate=accumulate), prefix="net.")
    x, y = batches(torch)[accumulate - 1]
    if accumulate == 1:
        first = float(torch.nn.functional.mse_loss(network(torch)(x), y))
        assert scalars["train/loss"].value[0] == pytest.approx(first)


class Logs(Module):
    """Logs metrics and hyperparameters, as modules do."""

    def __init__(self, rate=LR):
        super().__init__()
        self.save_hyperparameters()

    def training_step(self, batch, number):
        loss = super().training_step(batch, number)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, number):
        self.log("val_loss", torch.nn.functional.mse_loss(self.net(batch[0]), batch[1]))


def test_what_the_module_logs(tmp_path):
    """As any other logger gets it, though the Trainer has none; and nothing else changes for that."""
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, log_every_n_steps=1,
        enable_model_summary=False, default_root_dir=tmp_path, callbacks=[GradientCallback(tmp_path / "run")],
    )  # fmt: skip
    data = torch.utils.data.DataLoader(batches(torch), batch_size=None)
    trainer.fit(Logs(), data, data)
    assert trainer.loggers == []
    assert list((tmp_path / "checkpoints").iterdir())
    run = read_run(tmp_path / "run")
    assert len(run.scalars["train_loss"]) == 2 * STEPS
    np.testing.assert_allclose(run.scalars["train_loss"].value, run.scalars["train/loss"].value, rtol=1e-6)
    assert len(run.scalars["val_loss"]) == 2
    assert run.hparams == {"rate": LR}
    assert len(run.files) == 1


def test_what_is_logged_elsewhere(tmp_path):
    fit(tmp_path, Logs(), options={"log_metrics": False}, log_every_n_steps=1)
    assert "train_loss" not in read_run(tmp_path / "run").scalars


def test_a_logger_of_the_same_directory(tmp_path):
    """Then the callback adds none."""
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", devices=1, logger=EventFileLogger(tmp_path / "run"), log_every_n_steps=1,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[GradientCallback(tmp_path / "run")],
    )  # fmt: skip
    trainer.fit(Logs(), torch.utils.data.DataLoader(batches(torch), batch_size=None))
    assert len(read_run(tmp_path / "run").scalars["train_loss"]) == STEPS
    assert list((tmp_path / "run" / "checkpoints").iterdir())


class LogsLoss(Module):
    """Logs its loss under the tag that the callback has for it, and tests."""

    def __init__(self, **when):
        super().__init__()
        self.when = when

    def training_step(self, batch, number):
        loss = super().training_step(batch, number)
        self.log("train/loss", loss, **self.when)
        return loss

    def test_step(self, batch, number):
        self.log("test_loss", torch.nn.functional.mse_loss(self.net(batch[0]), batch[1]))


@pytest.mark.parametrize("has_logger", [False, True])
@pytest.mark.parametrize(("when", "points"), [({}, 2 * STEPS), ({"on_step": False, "on_epoch": True}, 2)])
def test_a_loss_that_the_module_logs_under_the_same_tag(tmp_path, has_logger, when, points):
    """It is the only one there, and the step's own is beside it; there is one file, with one step for each point."""
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", devices=1, logger=EventFileLogger(tmp_path / "run") if has_logger else False,
        log_every_n_steps=1, enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
        callbacks=[GradientCallback(tmp_path / "run")],
    )  # fmt: skip
    data = torch.utils.data.DataLoader(batches(torch), batch_size=None)
    trainer.fit(LogsLoss(**when), data)
    run = read_run(tmp_path / "run")
    assert len(run.scalars["train/loss"]) == points
    assert len(run.scalars["train/loss"].latest()) == points
    assert len(run.scalars["train/loss_step"].latest()) == 2 * STEPS
    assert len(run.scalars["gradients/global_norm"]) == 2 * STEPS
    assert len(run.files) == 1


def test_the_flight_recorder_knows_a_loss_under_its_other_tag(tmp_path):
    class Breaks(LogsLoss):
        def training_step(self, batch, number):
            return super().training_step(batch, number) * (float("inf") if number == 3 else 1.0)

    fit(tmp_path, Breaks(), options={"keep_last": 3, "every_n_steps": 2}, log_every_n_steps=1)
    runs = read_logdir(tmp_path / "run")
    assert runs["."].scalars["train/loss_step"].step.tolist() == list(range(2, STEPS + 1, 2))
    (incident,) = [run for name, run in runs.items() if name.startswith("incident")]
    assert len(incident.scalars["train/loss"]) >= 3


def test_a_loss_that_the_module_shows_and_gives_no_logger(tmp_path):
    fit(tmp_path, LogsLoss(logger=False, prog_bar=True), log_every_n_steps=1)
    assert len(read_run(tmp_path / "run").scalars["train/loss"]) == STEPS


def test_a_logger_of_other_files_in_the_same_directory(tmp_path):
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", devices=1, enable_progress_bar=False, enable_model_summary=False,
        logger=lightning.loggers.CSVLogger(tmp_path, name="", version=""), enable_checkpointing=False,
        log_every_n_steps=1, callbacks=[GradientCallback(tmp_path)],
    )  # fmt: skip
    trainer.fit(Logs(), torch.utils.data.DataLoader(batches(torch), batch_size=None))
    assert len(read_run(tmp_path).scalars["train_loss"]) == STEPS


def test_a_test_after_the_training(tmp_path):
    callback = GradientCallback(tmp_path / "run")
    trainer = lightning.Trainer(
        max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, callbacks=[callback],
        enable_model_summary=False, enable_checkpointing=False,
    )  # fmt: skip
    data, module = torch.utils.data.DataLoader(batches(torch), batch_size=None), LogsLoss()
    trainer.fit(module, data)
    (told,) = trainer.test(module, data, verbose=False)
    assert trainer.loggers == []
    series = read_run(tmp_path / "run").scalars["test_loss"]
    assert (series.step.tolist(), series.value.tolist()) == ([STEPS], [pytest.approx(told["test_loss"])])


def test_values_clipped(tmp_path):
    """Of each element, after the gradients were seen: there is no bound on the norm."""
    fit(tmp_path, Module(), 1e-3, gradient_clip_algorithm="value")
    scalars = read_run(tmp_path / "run").scalars
    assert scalars["gradients/global_norm"].value[0] == pytest.approx(by_hand(torch)[0]["gradients/global_norm"])
    assert "gradients/clip_norm" not in scalars


def test_manual_optimization(tmp_path):
    fit(tmp_path, Manual())
    compare(tmp_path / "run", by_hand(torch), prefix="net.")


def test_two_optimizers(tmp_path):
    fit(tmp_path, TwoOptimizers())
    runs = read_logdir(tmp_path / "run")
    wanted = by_hand(torch, None)
    for name, layer in ((".", "0"), ("optimizer=1", "2")):
        found = runs[name].scalars
        tags = [tag for tag in found if tag.startswith("gradients/norm/")]
        assert tags == [f"gradients/norm/net.{layer}.weight", f"gradients/norm/net.{layer}.bias"]
        for tag in tags:
            values = [step[tag.replace("net.", "")] for step in wanted]
            assert found[tag].value.tolist() == pytest.approx(values, rel=1e-5)


def test_an_exception_writes_what_was_kept(tmp_path):
    with pytest.raises(RuntimeError, match="no more data"):
        fit(tmp_path, Module(spoilt=4), options={"keep_last": 3, "every_n_steps": 100})
    runs = read_logdir(tmp_path / "run")
    assert runs["incident=4"].scalars["gradients/norm/net.0.weight"].step.tolist() == [2, 3, 4]
    assert runs["incident=4"].texts["incident/text_summary"][0] == "RuntimeError: no more data"


class Unfreezes(lightning.callbacks.BaseFinetuning):
    """Gives the optimizer the first layer in the second epoch."""

    def freeze_before_training(self, pl_module):
        self.freeze(pl_module.net[0])

    def finetune_function(self, pl_module, epoch, optimizer):
        if epoch == 1:
            self.unfreeze_and_add_param_group(pl_module.net[0], optimizer, lr=LR)


class Finetuned(Module):
    def configure_optimizers(self):
        return torch.optim.SGD([p for p in self.parameters() if p.requires_grad], LR)


def test_a_layer_that_is_unfrozen_later(tmp_path):
    trainer = lightning.Trainer(
        max_epochs=2, gradient_clip_val=CLIP, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, default_root_dir=tmp_path,
        callbacks=[Unfreezes(), GradientCallback(tmp_path / "run")],
    )  # fmt: skip
    trainer.fit(Finetuned(), torch.utils.data.DataLoader(batches(torch), batch_size=None))
    scalars = read_run(tmp_path / "run").scalars
    steps = {tag: series.step.tolist() for tag, series in scalars.items()}
    assert steps["gradients/norm/net.2.weight"] == steps["gradients/clipped"] == list(range(1, 2 * STEPS + 1))
    assert steps["gradients/norm/net.0.weight"] == list(range(STEPS + 1, 2 * STEPS + 1))


def test_the_example(logdir):
    check_example("lightning", logdir, "net.2.bias", 64)
