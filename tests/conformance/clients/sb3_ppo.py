"""stable-baselines3's PPO on CartPole, with its TensorBoard output and every format that it can log."""

LIBRARY = "torch"
PACKAGE = "stable-baselines3"
TIMES = ("time/",)


def train(directory):
    import numpy as np
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import HParam, Image

    class EveryFormat(BaseCallback):
        def _on_training_start(self):
            rates = {"algorithm": "PPO", "gamma": self.model.gamma}
            hidden = ("stdout", "log", "json", "csv")
            self.logger.record("hparams", HParam(rates, {"rollout/ep_len_mean": 0.0, "train/value_loss": 0.0}), hidden)

        def _on_rollout_end(self):
            hidden = ("stdout", "log", "json", "csv")
            self.logger.record("note", "some text")
            self.logger.record("weights", np.arange(10.0))
            self.logger.record("picture", Image(np.zeros((4, 4, 3), np.uint8), "HWC"), hidden)

        def _on_step(self):
            return True

    torch.manual_seed(0)
    policy = {"net_arch": [8]}
    model = PPO(
        "MlpPolicy", "CartPole-v1", 0.01, 64, n_epochs=1, seed=0, policy_kwargs=policy, tensorboard_log=directory
    )
    for _ in range(2):  # the second goes on in a directory of its own
        model.learn(128, callback=EveryFormat(), log_interval=1)
    model.learn(64, log_interval=1, reset_num_timesteps=False)
