"""TF1's training API on NumPy: gradients in, updated variables and a step report out.

    gradients → clip → rule, run by kernels → StepReport → telemetry → SummaryWriter

`rules` holds each optimizer's formula, `kernels` runs any formula over arrays, `optimizer` checks and drives,
`wrappers` compose. Only `telemetry` knows of `summaries`.
"""

from optim.clip import clip_by_global_norm, global_norm
from optim.optimizer import Optimizer
from optim.optimizers import GradientDescentOptimizer
from optim.report import StepReport
from optim.variable import IndexedSlices, Variable, global_step
from optim.wrappers import clip_gradients_by_norm, with_summaries

__all__ = [
    "GradientDescentOptimizer",
    "IndexedSlices",
    "Optimizer",
    "StepReport",
    "Variable",
    "clip_by_global_norm",
    "clip_gradients_by_norm",
    "global_norm",
    "global_step",
    "with_summaries",
]
