"""TF1's training API on NumPy: gradients in, updated variables and a step report out.

    loss → gradients → clip → rule, run by kernels → StepReport → telemetry → SummaryWriter
      │    anybody's gradients → monitor ───────────────────────↗
      └ trace → GraphDef, RunMetadata

`rules` holds each optimizer's formula, `kernels` runs any formula over arrays (`compiled` by numba, or `plain`). In
`optimizers`, an `Update` applies a rule to Variables, the `Optimizer` drives its steps, and wrappers transform them. A
loss is plain NumPy: `recording` and `boxes` write down what it calls, `backward` goes back through that with
`derivatives`, `autodiff` is the face; `trace` draws it, with `operations` of TensorFlow. `schedules` and `decays` make
rates that follow the step. `saver` writes what variables, optimizers and averages say of their `state` to `checkpoint`
files. `coordinator` and `queue_runner` end the threads that read data, on `queues` that can be closed. Only `telemetry`
and `trace` know of `summaries`.

Settings: GRADLEDGER_NUM_THREADS (or `set_num_threads`), by default as many as the process has processors;
GRADLEDGER_KERNELS, "plain" to do without numba; GRADLEDGER_CACHE_DIR, where compiled kernels are kept, by default below
the user's cache directory. A kernel is compiled once a machine, when it is first used: the "optim" logger says so.
`compile_kernels` does it beforehand.

What differs from TF1: float16 and bfloat16 are computed in float32 and rounded once, when they are stored, where
TensorFlow rounds every operation; of float64 variables hyperparameters stay float64; variables without a name are all
called "Variable", since a name that depends on what else the process has made would not find its checkpoint again.
"""

from optim.autodiff.backward import AggregationMethod
from optim.autodiff.gradients import GradientTape, gradients, stop_gradient
from optim.checkpoints.files import latest_checkpoint
from optim.checkpoints.saver import Saver
from optim.clip import clip_by_average_norm, clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from optim.graph.trace import trace_graph, trace_run
from optim.kernels.compiled import compile_kernels
from optim.kernels.threads import get_num_threads, set_num_threads
from optim.moving_average import ExponentialMovingAverage
from optim.optimizers.adagrad import AdadeltaOptimizer, AdagradOptimizer
from optim.optimizers.adam import AdamOptimizer, AdamWOptimizer, NAdamOptimizer
from optim.optimizers.base import Update
from optim.optimizers.clipping import clip_gradients_by_norm, clip_gradients_by_percentile, clip_gradients_by_value
from optim.optimizers.driver import Optimizer
from optim.optimizers.ftrl import FtrlOptimizer
from optim.optimizers.gradient_descent import (
    GradientDescentOptimizer,
    MomentumOptimizer,
)
from optim.optimizers.lion import LionOptimizer
from optim.optimizers.rmsprop import RMSPropOptimizer
from optim.optimizers.skipping import skip_nonfinite_steps
from optim.optimizers.summaries import with_summaries
from optim.queues.coordinator import Coordinator, LooperThread
from optim.queues.queue import Queue, ShutDown
from optim.queues.queue_runner import QueueRunner
from optim.recording.tape import name_scope
from optim.rules import Rule
from optim.schedules.decays import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    polynomial_decay,
)
from optim.schedules.schedule import Schedule, join_schedules, linear_warmup, piecewise_constant
from optim.telemetry.monitor import GradientMonitor
from optim.telemetry.report import SlotReport, StepReport, VariableReport, VariableReports
from optim.variable import IndexedSlices, Variable, global_step

__all__ = [
    "AdadeltaOptimizer",
    "AdagradOptimizer",
    "AdamOptimizer",
    "AdamWOptimizer",
    "AggregationMethod",
    "Coordinator",
    "ExponentialMovingAverage",
    "FtrlOptimizer",
    "GradientDescentOptimizer",
    "GradientMonitor",
    "GradientTape",
    "IndexedSlices",
    "LionOptimizer",
    "LooperThread",
    "MomentumOptimizer",
    "NAdamOptimizer",
    "Optimizer",
    "Queue",
    "QueueRunner",
    "RMSPropOptimizer",
    "Rule",
    "Saver",
    "Schedule",
    "ShutDown",
    "SlotReport",
    "StepReport",
    "Update",
    "Variable",
    "VariableReport",
    "VariableReports",
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "clip_gradients_by_norm",
    "clip_gradients_by_percentile",
    "clip_gradients_by_value",
    "compile_kernels",
    "cosine_decay",
    "cosine_decay_restarts",
    "exponential_decay",
    "get_num_threads",
    "global_norm",
    "global_step",
    "gradients",
    "inverse_time_decay",
    "join_schedules",
    "latest_checkpoint",
    "linear_cosine_decay",
    "linear_warmup",
    "name_scope",
    "natural_exp_decay",
    "noisy_linear_cosine_decay",
    "piecewise_constant",
    "polynomial_decay",
    "set_num_threads",
    "skip_nonfinite_steps",
    "stop_gradient",
    "trace_graph",
    "trace_run",
    "with_summaries",
]
