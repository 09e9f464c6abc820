"""TF1's training API on NumPy: gradients in, updated variables and a step report out.

    loss → gradients → clip → rule, run by kernels → StepReport → telemetry → SummaryWriter
      └ trace → GraphDef, RunMetadata

`rules` holds each optimizer's formula, `kernels` runs any formula over arrays (`compiled` by numba, or `plain`),
`optimizer` checks and drives, `wrappers` compose. A loss is plain NumPy: `recording` and `boxes` write down what it
calls, `backward` goes back through that with `derivatives`, `autodiff` is the face; `trace` draws it, with `operations`
of TensorFlow. Only `telemetry` and `trace` know of `summaries`.

Settings: GRADLEDGER_NUM_THREADS (or `set_num_threads`), by default as many as the process has processors;
GRADLEDGER_KERNELS, "plain" to do without numba; GRADLEDGER_CACHE_DIR, where compiled kernels are kept, by default below
the user's cache directory. A kernel is compiled once a machine, when it is first used: the "optim" logger says so.
`compile_kernels` does it beforehand.
"""

from optim.adam import AdamWOptimizer, NAdamOptimizer
from optim.autodiff import GradientTape, gradients, stop_gradient
from optim.backward import AggregationMethod
from optim.clip import clip_by_average_norm, clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from optim.compiled import compile_kernels
from optim.lion import LionOptimizer
from optim.optimizer import Optimizer
from optim.optimizers import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from optim.recording import name_scope
from optim.report import SlotReport, StepReport, VariableReport
from optim.threads import get_num_threads, set_num_threads
from optim.trace import trace_graph, trace_run
from optim.variable import IndexedSlices, Variable, global_step
from optim.wrappers import (
    clip_gradients_by_norm,
    clip_gradients_by_percentile,
    clip_gradients_by_value,
    skip_nonfinite_steps,
    with_summaries,
)

__all__ = [
    "AdadeltaOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "AdamWOptimizer",
    "AggregationMethod",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "GradientTape",
    "IndexedSlices",
    "LionOptimizer",
    "MomentumOptimizer",
    "NAdamOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "SlotReport",
    "StepReport",
    "Variable",
    "VariableReport",
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_gradients_by_norm",
    "clip_gradients_by_percentile",
    "clip_gradients_by_value",
    "compile_kernels",
    "get_num_threads",
    "global_norm",
    "global_step",
    "gradients",
    "name_scope",
    "set_num_threads",
    "skip_nonfinite_steps",
    "stop_gradient",
    "trace_graph",
    "trace_run",
    "with_summaries",
]
