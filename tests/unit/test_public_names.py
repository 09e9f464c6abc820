"""The public names: what `from summaries import …` and `from optim import …` give, listed word for word.

A name that is not in this list is not public. One that is removed from it breaks programs: it stays, or it goes into
`REMOVED` with the reason, and into the changelog.
"""

import importlib
import inspect
from importlib.metadata import version

import pytest
from helpers import run

CLASSES = {
    "summaries": """
    Audio ClipAdvice Config ConfigError Curve DamagedLengthError DamagedPayloadError Event EventFileWriter
    Exported Failure Fault FaultKind Finding FormatError GlobalSummaryWriter GraphDef Images Items NoEventFileError
    NonFiniteWarning Report
    Run RunMetadata RunReport Runs ScalarsTemplate Series SessionLog Severity Standing Summary SummaryWriter
    UndecodableError UndecodableTextError UnfinishedTailWarning Verdict ZeroFilledError
    """,
    "optim": """
    AdadeltaOptimizer AdagradOptimizer AdamOptimizer AdamWOptimizer AggregationMethod Coordinator
    ExponentialMovingAverage FtrlOptimizer GradientDescentOptimizer GradientMonitor GradientTape IndexedSlices
    LionOptimizer LooperThread MomentumOptimizer NAdamOptimizer Optimizer Queue QueueRunner RMSPropOptimizer
    Rule Saver Schedule ShutDown SlotReport StepReport Update Variable VariableReport VariableReports
    """,
}
FUNCTIONS = {
    "summaries": """
    audio audit clip_advice compare custom_scalars export figure histogram histogram_raw hparams image image_with_boxes
    images merge mesh pr_curve pr_curve_raw read_events read_graph read_logdir read_run scalar summary_iterator
    tensor text verify verify_logdir video write_graph zero_fraction
    """,
    "optim": """
    clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value clip_gradients_by_norm
    clip_gradients_by_percentile clip_gradients_by_value cosine_decay cosine_decay_restarts
    exponential_decay get_num_threads global_norm global_step gradients inverse_time_decay join_schedules
    latest_checkpoint linear_cosine_decay linear_warmup name_scope natural_exp_decay noisy_linear_cosine_decay
    piecewise_constant polynomial_decay set_num_threads skip_nonfinite_steps stop_gradient trace_graph trace_run
    with_summaries
    """,
}
NEW = {
    "summaries": "Audio Config ConfigError Exported GlobalSummaryWriter Images Verdict compare export verify "
    "verify_logdir",
    "optim": "Rule Update",
}
"""Names that version 0.1.0.dev0 did not have yet."""

REMOVED = {
    "summaries": {
        "EmptyFileError": "an empty file is a note, which is never raised",
        "NegativeStepError": "a negative step is a note, which is never raised",
        "NonFiniteWallTimeError": "a wall time that is not finite is a note, which is never raised",
        "UnfinishedTailError": "an unfinished tail is a warning: UnfinishedTailWarning",
    },
    "optim": {},
}
"""Names that version 0.1.0.dev0 had, and why they are gone."""

PREVIOUS = {
    "summaries": """
    ClipAdvice Curve DamagedLengthError DamagedPayloadError EmptyFileError Event EventFileWriter Failure Fault
    FaultKind Finding FormatError GraphDef Items NegativeStepError NoEventFileError NonFiniteWallTimeError
    NonFiniteWarning Report Run RunMetadata RunReport Runs ScalarsTemplate Series SessionLog Severity Standing
    Summary SummaryWriter UndecodableError UndecodableTextError UnfinishedTailError UnfinishedTailWarning
    ZeroFilledError audio audit clip_advice custom_scalars figure histogram histogram_raw hparams image
    image_with_boxes images merge mesh pr_curve pr_curve_raw read_events read_graph read_logdir read_run scalar
    summary_iterator tensor text video write_graph zero_fraction
    """,
    "optim": """
    AdadeltaOptimizer AdagradOptimizer AdamOptimizer AdamWOptimizer AggregationMethod Coordinator
    ExponentialMovingAverage FtrlOptimizer GradientDescentOptimizer GradientMonitor GradientTape IndexedSlices
    LionOptimizer LooperThread MomentumOptimizer NAdamOptimizer Optimizer Queue QueueRunner RMSPropOptimizer
    Saver Schedule ShutDown SlotReport StepReport Variable VariableReport VariableReports clip_by_average_norm
    clip_by_global_norm clip_by_norm clip_by_value clip_gradients_by_norm clip_gradients_by_percentile
    clip_gradients_by_value cosine_decay cosine_decay_restarts exponential_decay get_num_threads
    global_norm global_step gradients inverse_time_decay join_schedules latest_checkpoint linear_cosine_decay
    linear_warmup name_scope natural_exp_decay noisy_linear_cosine_decay piecewise_constant polynomial_decay
    set_num_threads skip_nonfinite_steps stop_gradient trace_graph trace_run with_summaries
    """,
}
PACKAGES = ("summaries", "optim")


def names(text):
    return text.split()


@pytest.mark.parametrize("package", PACKAGES)
def test_all_is_the_list(package):
    listed = names(CLASSES[package]) + names(FUNCTIONS[package])
    assert importlib.import_module(package).__all__ == sorted(listed)
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("package", "name", "is_kind"),
    [
        (package, name, is_kind)
        for kinds, is_kind in ((CLASSES, inspect.isclass), (FUNCTIONS, inspect.isfunction))
        for package, text in kinds.items()
        for name in names(text)
    ],
)
def test_a_name_can_be_imported_and_is_of_its_kind(package, name, is_kind):
    namespace = {}
    exec(f"from {package} import {name}", namespace)  # noqa: S102 - as a user imports it
    assert is_kind(namespace[name])


@pytest.mark.parametrize("package", PACKAGES)
def test_what_was_public_still_is(package):
    """But for what was removed on purpose."""
    module = importlib.import_module(package)
    gone = {name for name in names(PREVIOUS[package]) if not hasattr(module, name)}
    assert gone == set(REMOVED[package])
    assert set(module.__all__) - set(names(PREVIOUS[package])) == set(names(NEW[package]))


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name(package):
    with pytest.raises(AttributeError) as raised:
        importlib.import_module(package).nothing_of_this_name  # noqa: B018 - it is what raises
    assert str(raised.value) == f"module {package!r} has no attribute 'nothing_of_this_name'"


def test_the_version_is_looked_up_when_it_is_asked_for():
    program = "import summaries, optim, sys; print('importlib.metadata' in sys.modules)"
    assert run("-c", program) == "False\n"
    assert [importlib.import_module(package).__version__ for package in PACKAGES] == [version("gradledger")] * 2


def test_who_only_logs_does_not_load_the_rules_of_the_audit():
    program = "import summaries, sys; print('summaries.auditing.rules' in sys.modules)"
    assert run("-c", program) == "False\n"
    assert run("-c", f"from summaries import Config; {program}") == "True\n"
