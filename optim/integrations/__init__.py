"""GradientMonitor in other people's training loops: one module for each framework, imported only when it is used.

All log the tags of `GradientMonitor`, with norms before clipping, and write on one rank.

    from optim.integrations.torch import attach                   any loop with a torch optimizer
    from optim.integrations.huggingface import GradientCallback   transformers' Trainer
    from optim.integrations.lightning import GradientCallback     Lightning's Trainer
    from optim.integrations.keras import GradientCallback         Keras on JAX or torch
    from optim.integrations.accelerate import attach              loops with Accelerate
    from optim.integrations.ignite import attach                  Ignite's engines
    from optim.integrations.stable_baselines3 import GradientCallback   Stable-Baselines3's learn
    from optim.integrations.optax import measure_gradients        optax's chains, inside jit

`import optim` is enough for a full name, such as `optim.integrations.torch.attach`.
"""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

FRAMEWORKS = "accelerate huggingface ignite keras lightning optax stable_baselines3 torch"
"""The modules, between spaces; tests and the documentation ask here."""

if TYPE_CHECKING:
    from optim.integrations import accelerate as accelerate, huggingface as huggingface, ignite as ignite
    from optim.integrations import keras as keras, lightning as lightning, optax as optax
    from optim.integrations import stable_baselines3 as stable_baselines3, torch as torch
else:
    _, __getattr__, __dir__ = lazy(__name__, {"": FRAMEWORKS})
