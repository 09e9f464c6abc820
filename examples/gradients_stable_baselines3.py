"""Gradients of a policy, with rewards and evaluations.

pip install stable-baselines3
python examples/gradients_stable_baselines3.py [LOGDIR]
"""

import sys

import gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback

from optim.integrations.stable_baselines3 import GradientCallback

logdir = sys.argv[1] if len(sys.argv) > 1 else "runs/gradients_stable_baselines3"
evaluations = EvalCallback(gymnasium.make("CartPole-v1"), eval_freq=128, n_eval_episodes=2, verbose=0)
model = PPO("MlpPolicy", "CartPole-v1", n_steps=128, batch_size=64, n_epochs=4, seed=0, device="cpu")
model.learn(512, callback=[GradientCallback(logdir), evaluations])
