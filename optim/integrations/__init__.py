"""GradientMonitor in other people's training loops: one module for each framework, imported only when it is used.

All log the tags of `GradientMonitor`, with norms before clipping, and write on one rank.

    from optim.integrations.torch import attach                   any loop with a torch optimizer
    from optim.integrations.huggingface import GradientCallback   transformers' Trainer
    from optim.integrations.lightning import GradientCallback     Lightning's Trainer
    from optim.integrations.keras import GradientCallback         Keras on JAX or torch
    from optim.integrations.accelerate import attach              loops with Accelerate
    from optim.integrations.ignite import attach                  Ignite's engines
    from optim.integrations.optax import measure_gradients        optax's chains, inside jit

`import optim` is enough for a full name, such as `optim.integrations.torch.attach`.
"""

from summaries.lazy import lazy

_, __getattr__, __dir__ = lazy(__name__, {"": "accelerate huggingface ignite keras lightning optax torch"})
