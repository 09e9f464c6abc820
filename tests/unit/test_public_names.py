"""The public names: what `from summaries import …` and `from optim import …` give, listed word for word.

`gradledger` has those of `summaries`, and both packages' modules: the same objects.

A name that is not in this list is not public. One that is removed from it breaks programs: it stays, or it goes into
`REMOVED` with the reason, and into the changelog.
"""

import ast
import importlib
import inspect
import os
import pickle
from importlib.metadata import version
from pathlib import Path

import pytest
from helpers import ROOT, run

CLASSES = {
    "summaries": """
    Audio ClipAdvice Config ConfigError Curve DamagedLengthError DamagedPayloadError Event EventFileWriter
    Exported Failure Fault FaultKind Finding FormatError GlobalSummaryWriter GraphDef Images Items NoEventFileError
    NonFiniteWarning Report
    Run RunMetadata RunReport Runs ScalarsTemplate Series SessionLog Severity Standing Summary SummaryWriter
    UndecodableError UndecodableTextError UnfinishedTailWarning Verdict ZeroFilledError
    """,
    "optim": """
    AMSGradOptimizer AdEMAMixOptimizer AdaMaxOptimizer AdadeltaOptimizer AdafactorOptimizer AdagradDAOptimizer
    AdagradOptimizer AdamOptimizer AdamWOptimizer AdaptiveClipping AggregationMethod Coordinator
    ExponentialMovingAverage FtrlOptimizer GradientDescentOptimizer GradientMonitor GradientTape IndexedSlices
    LARSOptimizer LambOptimizer LazyAdamOptimizer LionOptimizer LooperThread MomentumOptimizer
    MovingAverageOptimizer MultitaskOptimizerWrapper MuonOptimizer NAdamOptimizer Optimizer ProdigyOptimizer
    ProximalAdagradOptimizer ProximalGradientDescentOptimizer Queue QueueRunner RAdamOptimizer RMSPropOptimizer
    Rule Saver Schedule ScheduleFreeAdamW ScheduleFreeSGD ShutDown SlotReport SoapOptimizer StepReport Update
    Variable VariableClippingOptimizer VariableReport VariableReports ZClip
    """,
}
FUNCTIONS = {
    "summaries": """
    audio audit clip_advice compare custom_scalars dataset export figure histogram histogram_raw hparams image
    image_with_boxes images merge mesh pr_curve pr_curve_raw read_events read_graph read_logdir read_run scalar scan
    summary_iterator tensor text verify verify_logdir video write_graph zero_fraction
    """,
    "optim": """
    adaptive_clipping_fn clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value
    clip_gradients_by_global_norm clip_gradients_by_history clip_gradients_by_norm clip_gradients_by_percentile
    clip_gradients_by_unit clip_gradients_by_value clip_gradients_by_zscore cosine_decay cosine_decay_restarts
    exponential_decay extend_with_decoupled_weight_decay get_num_threads global_norm global_step gradients
    inverse_time_decay join_schedules latest_checkpoint linear_cosine_decay linear_warmup name_scope
    natural_exp_decay noisy_linear_cosine_decay piecewise_constant polynomial_decay set_num_threads
    skip_nonfinite_steps stop_gradient trace_graph trace_run with_summaries
    """,
}
NEW = {
    "summaries": "Audio Config ConfigError Exported GlobalSummaryWriter Images Verdict compare dataset export "
    "scan verify verify_logdir",
    "optim": """
    AMSGradOptimizer AdEMAMixOptimizer AdaMaxOptimizer AdafactorOptimizer AdagradDAOptimizer AdaptiveClipping
    LARSOptimizer LambOptimizer LazyAdamOptimizer MovingAverageOptimizer MultitaskOptimizerWrapper MuonOptimizer
    ProdigyOptimizer ProximalAdagradOptimizer ProximalGradientDescentOptimizer RAdamOptimizer Rule
    ScheduleFreeAdamW ScheduleFreeSGD SoapOptimizer Update VariableClippingOptimizer ZClip adaptive_clipping_fn
    clip_gradients_by_global_norm clip_gradients_by_history clip_gradients_by_unit clip_gradients_by_zscore
    extend_with_decoupled_weight_decay
    """,
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
FACES = ("gradledger", *PACKAGES)
STUBS = [path.relative_to(ROOT) for path in sorted((ROOT / "gradledger").rglob("*.pyi"))]


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


def test_gradledger_has_all_that_summaries_has():
    import gradledger
    import summaries

    assert gradledger.__all__ == summaries.__all__
    assert [name for name in dir(summaries) if name not in dir(gradledger)] == []
    shown = {name for name in dir(summaries) if not name.startswith("__")}
    assert [name for name in shown if getattr(gradledger, name) is not getattr(summaries, name)] == []


@pytest.mark.parametrize("package", FACES)
def test_an_unknown_name(package):
    with pytest.raises(AttributeError) as raised:
        importlib.import_module(package).nothing_of_this_name  # noqa: B018 - it is what raises
    assert str(raised.value) == f"module {package!r} has no attribute 'nothing_of_this_name'"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("SGD", "GradientDescentOptimizer or MomentumOptimizer"),
        ("AdamW", "AdamWOptimizer"),
        ("lr_scheduler", "a schedule, such as cosine_decay"),
    ],
)
def test_a_name_that_only_torch_has(name, nearest):
    """As after `from torch import optim`, in another file."""
    with pytest.raises(AttributeError) as raised:
        getattr(importlib.import_module("optim"), name)
    assert str(raised.value) == (
        f"module 'optim' has no attribute '{name}': this is gradledger's optim, TF1's training API on NumPy, and the "
        f"nearest in it is {nearest}; torch's is torch.optim.{name}"
    )


def test_what_is_named_instead_of_torchs_is_there():
    """Each is a name of ours, and what is looked for is none."""
    optim = importlib.import_module("optim")
    nearest, torchs = (" ".join(words).split() for words in (optim._NEAREST, optim._NEAREST.values()))
    assert set(nearest) - {"or", "a", "schedule,", "such", "as"} <= set(optim.__all__)
    assert not set(torchs) & set(dir(optim))
    assert len(torchs) == len(set(torchs))


@pytest.mark.parametrize("package", FACES)
def test_dir_shows_the_names_before_they_are_imported(package):
    """Completion in a shell or a notebook asks it."""
    program = f"import {package}, sys; print(set({package}.__all__) <= set(dir({package})), 'numpy' in sys.modules)"
    assert run("-c", program) == "True False\n"


@pytest.mark.parametrize("package", FACES)
def test_a_star_imports_all(package):
    namespace = {}
    exec(f"from {package} import *", namespace)  # noqa: S102 - as a user imports it
    assert set(importlib.import_module(package).__all__) <= set(namespace)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_is_that_of_its_module_with_its_documentation_and_can_be_pickled(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        value = getattr(module, name)
        assert getattr(importlib.import_module(value.__module__), value.__qualname__) is value
        assert value.__doc__ or value.__module__.endswith("_pb2"), name
        assert pickle.loads(pickle.dumps(value)) is value  # noqa: S301 - our own


@pytest.mark.parametrize(
    "package",
    [
        "summaries", "summaries.auditing", "summaries.auditing.rules", "summaries.kinds", "summaries.tools",
        "summaries.wire", "optim", "optim.integrations",
    ],
)  # fmt: skip
def test_type_checkers_see_what_is_imported_on_first_use(package):
    """The imports that only they see, and the table that only a program sees."""
    module = importlib.import_module(package)
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    (branch,) = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in branch.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: (node.module, alias.asname) for node in imports for alias in node.names}
    (call,) = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy"]
    where = eval(ast.unparse(call.args[1]), vars(module))  # noqa: S307 - a table, which may name a constant
    table = {name: below for below, names in where.items() for name in names.split()}
    assert {name: f"{package}.{below}".rstrip(".") for name, below in table.items()} == {
        name: origin for name, (origin, alias) in seen.items() if alias or name in table
    }


def test_mypy_sees_the_type_of_every_name_and_no_others(tmp_path):
    """As a user's program is checked: with what the packages themselves say of types."""
    pytest.importorskip("mypy")
    names = [f"{package}.{name}" for package in FACES for name in importlib.import_module(package).__all__]
    names += ["summaries.__version__", "summaries.reading.run.Run", "optim.integrations.torch.attach"]
    names += [
        "gradledger.__version__",
        "gradledger.reading.run.Run",
        "gradledger.tools.repair",
        "gradledger.optim.Rule",
    ]
    names += ["gradledger.auditing.live.LiveAudit", "gradledger.optim.integrations.torch.attach"]
    unknown = [f"{module}.nothing" for module in (*FACES, "gradledger.optim", "optim.integrations")]
    imports = [*FACES, *(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in STUBS)]
    program = tmp_path / "program.py"
    lines = [f"import {module}" for module in imports] + [f"reveal_type({name})" for name in names + unknown]
    program.write_text("\n".join(lines))
    cache = () if os.access(ROOT, os.W_OK) else ("--cache-dir", tmp_path)
    lines = run("-m", "mypy", *cache, program, status=1).splitlines()
    revealed = [line.partition('Revealed type is "')[2] for line in lines if "Revealed type" in line]
    assert len(revealed) == len(names) + len(unknown)
    assert [name for name, kind in zip(names, revealed, strict=False) if kind in {'Any"', 'object"'}] == []
    assert sum(": error: Module has no attribute" in line for line in lines) == len(unknown)
    assert lines[-1].startswith(f"Found {len(unknown)} errors in 1 file")


def test_the_version_is_that_of_the_metadata_and_known_without_reading_them():
    program = "import summaries, optim, sys; summaries.__version__; print('importlib.metadata' in sys.modules)"
    assert run("-c", program) == "False\n"
    assert [importlib.import_module(package).__version__ for package in PACKAGES] == [version("gradledger")] * 2


def test_who_only_logs_does_not_load_the_rules_of_the_audit():
    program = "import summaries, sys; print('summaries.auditing.rules' in sys.modules)"
    assert run("-c", program) == "False\n"
    assert run("-c", f"from summaries import Config; {program}") == "True\n"
