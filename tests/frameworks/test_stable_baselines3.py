"""Stable-Baselines3: the gradients of PPO and of SAC's two optimizers, and what the models' loggers record."""

import numpy as np
import pytest
from frameworks.examples import check_example

from summaries import SummaryWriter, read_logdir, read_run

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
stable_baselines3 = pytest.importorskip(
    "stable_baselines3", reason="stable-baselines3 is not installed: make frameworks"
)
pytestmark = pytest.mark.filterwarnings("ignore")

from stable_baselines3.common import callbacks, logger, utils  # noqa: E402 - as the next

from optim.integrations.stable_baselines3 import GradientCallback  # noqa: E402 - it needs stable_baselines3


def ppo(**options):
    made = {"n_steps": 32, "batch_size": 16, "n_epochs": 2, "seed": 0, "device": "cpu"} | options
    return stable_baselines3.PPO("MlpPolicy", "CartPole-v1", **made)


def norms_by_hand(model):
    """Before each step, which comes after clipping: of the gradients before it, and of what is added to the weights."""
    optimizer, parameters = model.policy.optimizer, list(model.policy.parameters())
    whole, updates, before = [], [], []
    clip = torch.nn.utils.clip_grad_norm_

    def look(optimizer, *_):
        before[:] = [p.detach().clone() for p in parameters]

    def compare(optimizer, *_):
        moved = [p.detach() - old for p, old in zip(parameters, before, strict=True)]
        updates.append(torch.linalg.vector_norm(moved[0].double()).item())

    def clipped(parameters, max_norm):
        parameters = list(parameters)
        whole.append(torch.cat([p.grad.reshape(-1) for p in parameters]).double().norm().item())
        return clip(parameters, max_norm)

    optimizer.register_step_pre_hook(look)
    optimizer.register_step_post_hook(compare)
    return clipped, whole, updates


def test_before_clipping(logdir, monkeypatch):
    model = ppo()
    clipped, whole, updates = norms_by_hand(model)
    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", clipped)
    model.learn(64, callback=GradientCallback(logdir))
    scalars = read_run(logdir).scalars
    np.testing.assert_allclose(scalars["gradients/global_norm"].value, whole, rtol=1e-5)
    name = next(iter(dict(model.policy.named_parameters())))
    np.testing.assert_allclose(scalars[f"updates/norm/{name}"].value, updates, rtol=1e-4)
    assert scalars["gradients/clip_norm"].value.tolist() == [0.5] * len(whole)


@pytest.fixture
def without_tensorboard(monkeypatch):
    """SB3's own format needs TensorBoard, which is not in this environment: our writer does its work there."""
    for module in (logger, utils):
        monkeypatch.setattr(module, "SummaryWriter", SummaryWriter)


@pytest.mark.usefixtures("without_tensorboard")
def test_what_the_logger_records(logdir, tmp_path):
    """As SB3's own format writes it, but for the rate of each step, which the hook logs; in one file."""
    model = ppo(seed=1)
    model.set_logger(logger.configure(str(tmp_path / "theirs"), ["tensorboard"]))
    model.learn(96, callback=GradientCallback(logdir))
    ours, theirs = read_run(logdir), read_run(tmp_path / "theirs")
    assert {"train/loss", "rollout/ep_rew_mean"} <= set(theirs.scalars)
    for tag, series in theirs.scalars.items():
        if tag != "train/learning_rate":
            assert ours.scalars[tag].step.tolist() == series.step.tolist()
            assert ours.scalars[tag].value.tolist() == series.value.tolist()
    updates = len(ours.scalars["gradients/global_norm"])
    assert ours.scalars["train/learning_rate"].step.tolist() == list(range(1, updates + 1))
    assert (ours.hparams["algorithm"], ours.hparams["batch_size"]) == ("PPO", 16)
    assert len(ours.files) == 1
    assert len(model.logger.output_formats) == 1  # ours is gone


def test_an_actor_and_a_critic(logdir):
    model = stable_baselines3.SAC("MlpPolicy", "Pendulum-v1", learning_starts=8, batch_size=8, device="cpu")
    model.learn(20, callback=GradientCallback(logdir))
    runs = read_logdir(logdir)
    assert set(runs) == {".", "actor", "critic"}
    counts = {name: len(runs[name].scalars["gradients/global_norm"]) for name in ("actor", "critic")}
    assert counts == {"actor": 12, "critic": 12}
    assert "gradients/global_norm" not in runs["."].scalars


def test_a_writer_and_nothing_but_gradients(logdir):
    with SummaryWriter(logdir) as writer:
        ppo().learn(32, callback=GradientCallback(writer, log_metrics=False))
        writer.add_scalar("mine", 1.0, 1)
    run = read_run(logdir)
    assert {"mine", "gradients/global_norm"} <= set(run.scalars)
    assert "rollout/ep_rew_mean" not in run.scalars
    assert not run.hparams


@pytest.mark.usefixtures("without_tensorboard")
def test_a_model_that_logs_to_the_same_directory(tmp_path):
    model = ppo(tensorboard_log=str(tmp_path))
    model.learn(64, callback=GradientCallback(tmp_path / "PPO_1"))
    series = read_run(tmp_path / "PPO_1").scalars["rollout/ep_rew_mean"]
    assert series.step.tolist() == [32, 64]


class Fails(callbacks.BaseCallback):
    def _on_step(self):
        if self.num_timesteps == 40:
            raise RuntimeError("no more data")
        return True


def test_a_training_that_goes_on(logdir):
    """With the same callback or a new one, and after an exception: the steps are those of the optimizer."""
    model, callback = ppo(), GradientCallback(logdir)
    with pytest.raises(RuntimeError, match="no more data"):
        model.learn(64, callback=[callback, Fails()], reset_num_timesteps=False)
    model.learn(32, callback=callback, reset_num_timesteps=False)
    model.learn(32, callback=GradientCallback(logdir), reset_num_timesteps=False)
    assert read_run(logdir).scalars["gradients/global_norm"].step.tolist() == list(range(1, 13))


def test_a_callback_that_is_closed(logdir):
    model, callback = ppo(), GradientCallback(logdir)
    nested = callbacks.EveryNTimesteps(1, callback)  # does not tell the end
    model.learn(32, callback=nested)
    callback.close()
    model.learn(32)
    assert len(read_run(logdir).scalars["gradients/global_norm"]) == 4


def test_settings_that_became_schedules(logdir):
    ppo(clip_range=0.1, learning_rate=lambda left: 0.01 * left).learn(32, callback=GradientCallback(logdir))
    hyperparameters = read_run(logdir).hparams
    assert (hyperparameters["clip_range"], hyperparameters["learning_rate"]) == (0.1, 0.01)


def test_the_example(logdir):
    check_example("stable_baselines3", logdir, "action_net.weight", 32)
