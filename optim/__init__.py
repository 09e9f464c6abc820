"""TF1's training API on NumPy: gradients in, updated variables and a step report out.

    loss → recording → autodiff → gradients → clip → rules, run by kernels → report → telemetry → SummaryWriter
      │      gradients from anywhere → telemetry.monitor ──────────────────────↗
      └ graph → GraphDef, RunMetadata

- A loss is plain NumPy. `recording` records its operations, `autodiff` computes gradients from the recording, and
  `graph` converts it to TensorFlow's operations.
- `rules` holds the formula of each optimizer. `kernels` runs any formula over arrays, compiled by numba or in plain
  NumPy, on several threads. `clip` holds the clipping functions.
- In `optimizers`, an `Update` applies a rule to Variables, the `Optimizer` drives its steps, and wrappers transform
  them. `schedules` computes learning rates from the step. `moving_average` averages variables.
- `integrations` puts GradientMonitor into other people's training loops. `demo` is what `gradledger demo` runs.
- `telemetry` measures a step and logs it. `checkpoints` saves the state of variables, optimizers and averages, and
  restores it. `queues` feeds data from threads, and stops them.

Imports point down only: demo, integrations, optimizers and moving_average, graph and queues, autodiff and checkpoints,
clip and schedules, telemetry, variable, kernels and recording, rules, arrays and checks. Only `telemetry`, `graph`,
`integrations` and `demo` use `summaries`; `kernels` keeps compiled code in the same place.

Settings: GRADLEDGER_NUM_THREADS (or `set_num_threads`) is the number of threads within a step, by default one for each
processor that the process may use. GRADLEDGER_KERNELS=plain turns compiled code off. Kernels come compiled, but for a
rule of one's own: numba, if it is installed, compiles that when it is first used; the logger "optim" says so.

Differences from TF1: float16 and bfloat16 are computed in float32 and rounded once, when they are stored, while
TensorFlow rounds after every operation. Hyperparameters of float64 variables stay float64. Variables without a name are
all called "Variable", because a name that depends on what else the process has created would not match its checkpoint.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from optim.autodiff.backward import AggregationMethod
from optim.autodiff.gradients import GradientTape, gradients, stop_gradient
from optim.checkpoints.files import latest_checkpoint
from optim.checkpoints.saver import Saver
from optim.clip import clip_by_average_norm, clip_by_global_norm, clip_by_norm, clip_by_value, global_norm
from optim.graph.trace import trace_graph, trace_run
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
from optim.recording.nodes import name_scope
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

if TYPE_CHECKING:
    __version__: str

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


def __getattr__(name: str) -> Any:
    """Look up the version, or import the integrations, when they are asked for."""
    if name == "integrations":
        return import_module("optim.integrations")
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version  # noqa: PLC0415 - takes a while to import, and few ask

    value = globals()[name] = version("gradledger")
    return value
