"""TF1's training API on NumPy: gradients in, updated variables and a step report out.

    loss → recording → autodiff → gradients → clip → rules, run by kernels → report → telemetry → SummaryWriter
      │      gradients from anywhere → telemetry.monitor ──────────────────────↗
      └ graph → GraphDef, RunMetadata

- A loss is plain NumPy. `recording` records its operations, `autodiff` computes gradients from the recording, and
  `graph` converts it to TensorFlow's operations.
- `rules` holds the formula of each optimizer. `kernels` runs any formula over arrays, compiled or in plain
  NumPy, on several threads. `clip` holds the clipping functions.
- In `optimizers`, an `Update` applies a rule to Variables, the `Optimizer` drives its steps, and wrappers transform
  them. `schedules` computes learning rates from the step. `moving_average` averages variables.
- `curvature` looks at the loss around the variables; `forecast` foretells spikes of it.
- `integrations` puts GradientMonitor into other people's training loops. `demo` is what `gradledger demo` runs.
- `telemetry` measures a step and logs it. `checkpoints` saves the state of variables, optimizers and averages, and
  restores it. `queues` feeds data from threads, and stops them.

Imports point down only: demo, integrations, forecast, curvature, optimizers, moving_average, graph and queues,
autodiff and checkpoints, clip and schedules, variable, telemetry and recording, kernels, rules, checks. Only
`telemetry`, `graph`, `integrations` and `demo` use `summaries`; `kernels` keeps compiled code in the same place, and
`summaries.foreign_arrays` converts the arrays of other libraries.

Settings: GRADLEDGER_NUM_THREADS (or `set_num_threads`) is the number of threads within a step, by default one for each
processor that the process may use. GRADLEDGER_KERNELS=plain turns compiled code off. Kernels come compiled, but for a
rule of one's own: numba, if it is installed, compiles that when it is first used; the logger "optim" says so.

Differences from TF1: float16 and bfloat16 are computed in float32 and rounded once, when they are stored, while
TensorFlow rounds after every operation. Hyperparameters of float64 variables stay float64. Variables without a name are
all called "Variable", because a name that depends on what else the process has created would not match its checkpoint.
"""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    __version__: str
    from optim import autodiff as autodiff, checkpoints as checkpoints, clip as clip, curvature as curvature
    from optim import forecast as forecast, graph as graph
    from optim import integrations as integrations, kernels as kernels, moving_average as moving_average
    from optim import optimizers as optimizers, queues as queues, recording as recording, rules as rules
    from optim import schedules as schedules, telemetry as telemetry, variable as variable
    from optim.autodiff.backward import AggregationMethod as AggregationMethod
    from optim.autodiff.gradients import GradientTape as GradientTape, gradients as gradients
    from optim.autodiff.gradients import stop_gradient as stop_gradient
    from optim.checkpoints.files import latest_checkpoint as latest_checkpoint
    from optim.checkpoints.saver import Saver as Saver
    from optim.clip import clip_by_average_norm as clip_by_average_norm, clip_by_global_norm as clip_by_global_norm
    from optim.clip import clip_by_norm as clip_by_norm, clip_by_value as clip_by_value, global_norm as global_norm
    from optim.graph.trace import trace_graph as trace_graph, trace_run as trace_run
    from optim.kernels.threads import get_num_threads as get_num_threads, set_num_threads as set_num_threads
    from optim.moving_average import ExponentialMovingAverage as ExponentialMovingAverage
    from optim.optimizers.adagrad import AdadeltaOptimizer as AdadeltaOptimizer, AdagradOptimizer as AdagradOptimizer
    from optim.optimizers.adam import AdamOptimizer as AdamOptimizer, AdamWOptimizer as AdamWOptimizer
    from optim.optimizers.adam import NAdamOptimizer as NAdamOptimizer
    from optim.optimizers.base import Update as Update
    from optim.optimizers.clipping_wrappers import clip_gradients_by_norm as clip_gradients_by_norm
    from optim.optimizers.clipping_wrappers import clip_gradients_by_percentile as clip_gradients_by_percentile
    from optim.optimizers.clipping_wrappers import clip_gradients_by_value as clip_gradients_by_value
    from optim.clip import clip_gradients_by_global_norm as clip_gradients_by_global_norm
    from optim.optimizers.adafactor import AdafactorOptimizer as AdafactorOptimizer
    from optim.optimizers.adam import AMSGradOptimizer as AMSGradOptimizer
    from optim.optimizers.adam import LazyAdamOptimizer as LazyAdamOptimizer
    from optim.optimizers.adamax import AdaMaxOptimizer as AdaMaxOptimizer
    from optim.optimizers.adaptive_clipping import AdaptiveClipping as AdaptiveClipping
    from optim.optimizers.adaptive_clipping import adaptive_clipping_fn as adaptive_clipping_fn
    from optim.optimizers.clipping_apart import clip_gradients_by_history as clip_gradients_by_history
    from optim.optimizers.clipping_apart import clip_gradients_by_unit as clip_gradients_by_unit
    from optim.optimizers.zclip import ZClip as ZClip
    from optim.optimizers.zclip import clip_gradients_by_zscore as clip_gradients_by_zscore
    from optim.optimizers.ademamix import AdEMAMixOptimizer as AdEMAMixOptimizer
    from optim.optimizers.contrib import MovingAverageOptimizer as MovingAverageOptimizer
    from optim.optimizers.contrib import MultitaskOptimizerWrapper as MultitaskOptimizerWrapper
    from optim.optimizers.contrib import VariableClippingOptimizer as VariableClippingOptimizer
    from optim.optimizers.muon import MuonOptimizer as MuonOptimizer
    from optim.optimizers.prodigy import ProdigyOptimizer as ProdigyOptimizer
    from optim.optimizers.proximal import AdagradDAOptimizer as AdagradDAOptimizer
    from optim.optimizers.proximal import ProximalAdagradOptimizer as ProximalAdagradOptimizer
    from optim.optimizers.proximal import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
    from optim.optimizers.radam import RAdamOptimizer as RAdamOptimizer
    from optim.optimizers.schedule_free import ScheduleFreeAdamW as ScheduleFreeAdamW
    from optim.optimizers.schedule_free import ScheduleFreeSGD as ScheduleFreeSGD
    from optim.optimizers.soap import SoapOptimizer as SoapOptimizer
    from optim.optimizers.trust import LARSOptimizer as LARSOptimizer
    from optim.optimizers.trust import LambOptimizer as LambOptimizer
    from optim.optimizers.weight_decay import extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay
    from optim.optimizers.driver import Optimizer as Optimizer
    from optim.optimizers.ftrl import FtrlOptimizer as FtrlOptimizer
    from optim.optimizers.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
    from optim.optimizers.gradient_descent import MomentumOptimizer as MomentumOptimizer
    from optim.optimizers.lion import LionOptimizer as LionOptimizer
    from optim.optimizers.rmsprop import RMSPropOptimizer as RMSPropOptimizer
    from optim.optimizers.skipping import skip_nonfinite_steps as skip_nonfinite_steps
    from optim.optimizers.summaries import with_summaries as with_summaries
    from optim.queues.coordinator import Coordinator as Coordinator, LooperThread as LooperThread
    from optim.queues.queue import Queue as Queue, ShutDown as ShutDown
    from optim.queues.queue_runner import QueueRunner as QueueRunner
    from optim.recording.nodes import name_scope as name_scope
    from optim.rules import Rule as Rule
    from optim.schedules.decays import cosine_decay as cosine_decay, cosine_decay_restarts as cosine_decay_restarts
    from optim.schedules.decays import exponential_decay as exponential_decay, inverse_time_decay as inverse_time_decay
    from optim.schedules.decays import linear_cosine_decay as linear_cosine_decay
    from optim.schedules.decays import natural_exp_decay as natural_exp_decay
    from optim.schedules.decays import noisy_linear_cosine_decay as noisy_linear_cosine_decay
    from optim.schedules.decays import polynomial_decay as polynomial_decay
    from optim.schedules.schedule import Schedule as Schedule, join_schedules as join_schedules
    from optim.schedules.schedule import linear_warmup as linear_warmup, piecewise_constant as piecewise_constant
    from optim.telemetry.monitor import GradientMonitor as GradientMonitor
    from optim.telemetry.report import SlotReport as SlotReport, StepReport as StepReport
    from optim.telemetry.report import VariableReport as VariableReport, VariableReports as VariableReports
    from optim.variable import IndexedSlices as IndexedSlices, Variable as Variable, global_step as global_step
else:
    _NEAREST = {  # to what torch.optim has and this package lacks
        "AdadeltaOptimizer": "Adadelta",
        "AdagradOptimizer": "Adagrad",
        "AdaMaxOptimizer": "Adamax",
        "AdafactorOptimizer": "Adafactor",
        "AdamOptimizer": "Adam",
        "AdamWOptimizer": "AdamW",
        "ExponentialMovingAverage": "swa_utils",
        "GradientDescentOptimizer": "ASGD LBFGS",
        "GradientDescentOptimizer or MomentumOptimizer": "SGD",
        "LazyAdamOptimizer": "SparseAdam",
        "MuonOptimizer": "Muon",
        "NAdamOptimizer": "NAdam",
        "RAdamOptimizer": "RAdam",
        "RMSPropOptimizer": "RMSprop Rprop",
        "a schedule, such as cosine_decay": "lr_scheduler",
    }
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            "": "autodiff checkpoints clip curvature forecast graph integrations kernels moving_average "
            "optimizers queues recording rules schedules telemetry variable",
            "autodiff.backward": "AggregationMethod",
            "autodiff.gradients": "GradientTape gradients stop_gradient",
            "checkpoints.files": "latest_checkpoint",
            "checkpoints.saver": "Saver",
            "clip": "clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value clip_gradients_by_global_norm "
            "global_norm",
            "graph.trace": "trace_graph trace_run",
            "kernels.threads": "get_num_threads set_num_threads",
            "moving_average": "ExponentialMovingAverage",
            "optimizers.adagrad": "AdadeltaOptimizer AdagradOptimizer",
            "optimizers.adam": "AMSGradOptimizer AdamOptimizer AdamWOptimizer LazyAdamOptimizer NAdamOptimizer",
            "optimizers.base": "Update",
            "optimizers.clipping_wrappers": "clip_gradients_by_norm clip_gradients_by_percentile "
            "clip_gradients_by_value",
            "optimizers.adafactor": "AdafactorOptimizer",
            "optimizers.adamax": "AdaMaxOptimizer",
            "optimizers.adaptive_clipping": "AdaptiveClipping adaptive_clipping_fn",
            "optimizers.clipping_apart": "clip_gradients_by_history clip_gradients_by_unit",
            "optimizers.zclip": "ZClip clip_gradients_by_zscore",
            "optimizers.ademamix": "AdEMAMixOptimizer",
            "optimizers.contrib": "MovingAverageOptimizer MultitaskOptimizerWrapper VariableClippingOptimizer",
            "optimizers.muon": "MuonOptimizer",
            "optimizers.prodigy": "ProdigyOptimizer",
            "optimizers.proximal": "AdagradDAOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer",
            "optimizers.radam": "RAdamOptimizer",
            "optimizers.schedule_free": "ScheduleFreeAdamW ScheduleFreeSGD",
            "optimizers.soap": "SoapOptimizer",
            "optimizers.trust": "LARSOptimizer LambOptimizer",
            "optimizers.weight_decay": "extend_with_decoupled_weight_decay",
            "optimizers.driver": "Optimizer",
            "optimizers.ftrl": "FtrlOptimizer",
            "optimizers.gradient_descent": "GradientDescentOptimizer MomentumOptimizer",
            "optimizers.lion": "LionOptimizer",
            "optimizers.rmsprop": "RMSPropOptimizer",
            "optimizers.skipping": "skip_nonfinite_steps",
            "optimizers.summaries": "with_summaries",
            "queues.coordinator": "Coordinator LooperThread",
            "queues.queue": "Queue ShutDown",
            "queues.queue_runner": "QueueRunner",
            "recording.nodes": "name_scope",
            "rules": "Rule",
            "schedules.decays": "cosine_decay cosine_decay_restarts exponential_decay inverse_time_decay "
            "linear_cosine_decay natural_exp_decay noisy_linear_cosine_decay polynomial_decay",
            "schedules.schedule": "Schedule join_schedules linear_warmup piecewise_constant",
            "telemetry.monitor": "GradientMonitor",
            "telemetry.report": "SlotReport StepReport VariableReport VariableReports",
            "variable": "IndexedSlices Variable global_step",
        },
        {
            name: f": this is gradledger's optim, TF1's training API on NumPy, and the nearest in it is {ours}; "
            f"torch's is torch.optim.{name}"
            for ours, names in _NEAREST.items()
            for name in names.split()
        },
    )
