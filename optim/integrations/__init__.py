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

from importlib import import_module
from typing import Any

_FRAMEWORKS = {"accelerate", "huggingface", "ignite", "keras", "lightning", "optax", "torch"}


def __getattr__(name: str) -> Any:
    """Import a framework's module when it is asked for."""
    if name not in _FRAMEWORKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
