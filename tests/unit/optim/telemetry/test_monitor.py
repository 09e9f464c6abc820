"""GradientMonitor: the same tags as with_summaries, from gradients that are somebody else's."""

from collections import namedtuple

import numpy as np
import pytest
from helpers import logged
from optimizing.clipped import NORM5

import optim
from optim import GradientMonitor, Variable
from optim.telemetry.report import VariableReports
from optim.telemetry.trees import gradients_by_name
from summaries import EventFileWriter, SummaryWriter, read_run


def test_the_tags_are_those_of_our_optimizers(tmp_path):
    """What we log of our own optimizer's step, we log of anybody's who tells as much."""
    rng = np.random.default_rng(0)
    shapes = {"kernel": (300, 50), "bias": (7,), "empty": (0,)}
    variables = {
        name: Variable(rng.standard_normal(shape), name=name, dtype="float32") for name, shape in shapes.items()
    }
    with SummaryWriter(tmp_path / "ours") as ours, SummaryWriter(tmp_path / "theirs") as theirs:
        inner = optim.AdamOptimizer(0.01)
        optimizer = optim.with_summaries(optim.clip_gradients_by_norm(inner, 1.0), ours, 2, clock=lambda: 0.0)
        monitor = GradientMonitor(theirs, 2, clock=lambda: 0.0)
        for step in range(1, 5):
            before = {name: variable.value.copy() for name, variable in variables.items()}
            gradients = {
                name: rng.standard_normal(shape).astype(np.float32) * step / 40 for name, shape in shapes.items()
            }
            if step == 3:
                gradients["bias"][:2] = np.nan, np.inf
            optimizer.apply_gradients([(gradients[name], variable) for name, variable in variables.items()])
            monitor.observe(
                step,
                gradients,
                {name: variable.value for name, variable in variables.items()},
                clip_norm=1.0,
                learning_rate=0.01,
                updates={name: variable.value - before[name] for name, variable in variables.items()},
                slots={slot: {n: inner.get_slot(v, slot).value for n, v in variables.items()} for slot in ("m", "v")},
            )
        for writer in (ours, theirs):
            writer.flush()
        wanted, got = (read_run(writer.path).scalars for writer in (ours, theirs))
        assert list(got) == list(wanted)
        assert got["gradients/nonfinite"].value.tolist() == [0, 2]
        for tag, series in wanted.items():
            assert got[tag].step.tolist() == [2, 4]
            np.testing.assert_allclose(got[tag].value, series.value, rtol=1e-5, atol=1e-7, err_msg=tag)


def test_gradients_alone(writer):
    report = GradientMonitor(writer).observe(3, {"w": NORM5})
    assert (report.step, report.global_norm, report.clipped, report.nonfinite) == (3, 5.0, False, 0)
    assert logged(writer) == {
        "gradients/global_norm": [(3, 5.0)],
        "gradients/nonfinite": [(3, 0.0)],
        "gradients/norm/w": [(3, 5.0)],
        "gradients/zero_fraction/w": [(3, 0.0)],
    }


def test_clipped_fraction_counts_all_steps(writer):
    monitor = GradientMonitor(writer, 7)
    for step in range(1, 15):
        monitor.observe(step, {"w": NORM5 * (step % 3 == 0)}, clip_norm=1.0)
    assert logged(writer)["gradients/clipped_fraction"] == [
        (7, float(np.float32(2 / 7))),
        (14, float(np.float32(4 / 14))),
    ]


def test_a_norm_that_is_known_is_not_measured_again(writer):
    """And the gradients are not even looked at when the step is not due."""
    monitor = GradientMonitor(writer, 2)
    assert monitor.observe(1, object(), clip_norm=1.0, global_norm=np.float32(8)).clipped
    report = monitor.observe(2, {"w": NORM5 / 5}, clip_norm=1.0, global_norm=np.array([0.5]))
    assert (report.global_norm, report.clipped) == (0.5, False)
    found = logged(writer)
    assert found["gradients/global_norm"] == [(2, 0.5)]
    assert found["gradients/norm/w"] == [(2, 1.0)]
    assert found["gradients/clipped_fraction"] == [(2, 0.5)]


def test_a_known_norm_that_is_not_finite_has_its_elements_counted(writer):
    monitor = GradientMonitor(writer, 2)
    monitor.observe(1, {"w": np.float32([np.nan, np.inf, 1])}, clip_norm=1.0, global_norm=np.nan)
    monitor.observe(2, {"w": NORM5}, clip_norm=1.0)
    assert logged(writer)["gradients/nonfinite"] == [(2, 2.0)]


def test_without_a_bound_nothing_is_read_between_due_steps(writer):
    report = GradientMonitor(writer, 10).observe(3, object())
    assert (report.global_norm, report.nonfinite, report.variables) == (None, None, ())


def test_a_loss_of_any_kind(writer):
    monitor = GradientMonitor(writer)
    for step, loss in enumerate((0.5, np.float32(0.5), np.array([[0.5]]), None)):
        monitor.observe(step, {"w": NORM5}, loss=loss)
    assert logged(writer)["train/loss"] == [(0, 0.5), (1, 0.5), (2, 0.5)]


def test_histograms(writer):
    monitor = GradientMonitor(writer, 100, 2, variables=["w"])
    for step in range(1, 4):
        monitor.observe(step, {"w": NORM5, "b": NORM5}, {"w": NORM5, "b": NORM5})
    writer.flush()
    found = read_run(writer.path).histograms
    assert {tag: items.step.tolist() for tag, items in found.items()} == {
        "histograms/gradients/w": [2],
        "histograms/weights/w": [2],
    }


Point = namedtuple("Point", ["x", "y"])  # noqa: PYI024 - as JAX users have them
A, B, C = (np.full(2, k, np.float32) for k in range(3))
TREES = {
    "mapping": ({"a": A, "b": B}, ["a", "b"]),
    "nested": ({"layer": {"w": A, "b": B}, "out": C}, ["layer/w", "layer/b", "out"]),
    "lists": ([{"w": A}, (B, None, C)], ["0/w", "1/0", "1/2"]),
    "named tuple": (Point(A, {"z": B}), ["x", "y/z"]),
    "pairs": ([("a", A), ("b", None), ("c", C)], ["a", "c"]),
    "generator": ((pair for pair in [("a", A), ("b", B)]), ["a", "b"]),
    "keys that are no strings": ({0: A, (1, 2): B}, ["0", "(1, 2)"]),
    "no array of NumPy's": ({"a": memoryview(A), "b": [1.5, 2.5]}, None),
}


@pytest.mark.parametrize(("tree", "names"), [case for case in TREES.values() if case[1]])
def test_names(tree, names):
    assert list(gradients_by_name(tree)[0]) == names


def test_a_buffer_is_an_array():
    ((name, array),) = gradients_by_name({"a": memoryview(A)})[0].items()
    assert (name, array.tolist()) == ("a", A.tolist())


W = {"w": NORM5}
NONE = (
    "gradients must contain at least one array, got none; if the framework keeps them to itself, as DeepSpeed does, "
    "pass global_norm="
)
REFUSED = {
    "no gradients": (ValueError, ({},), {}, NONE),
    "all None": (ValueError, ({"w": None},), {}, NONE),
    "no name": (TypeError, (NORM5,), {}, "gradients must have names, as in {'w': array}, got ndarray"),
    "a number": (TypeError, ({"w": 1.0},), {}, "gradients of 'w' must be an array, got float: 1.0"),
    "integers": (TypeError, ({"w": np.arange(2)},), {}, "gradients of 'w' must be of floating dtype, got int64"),
    "twice": (
        ValueError,
        ({"a/b": NORM5, "a": {"b": NORM5}},),
        {},
        "gradients must have each name once, got 'a/b' twice",
    ),
    "missing": (
        ValueError,
        (W, {"v": NORM5}),
        {},
        "weights must have an array for every gradient, got none for 'w'",
    ),
    "shape": (ValueError, (W, {"w": NORM5[:1]}), {}, "weights of 'w' must have the gradient's shape (2,), got (1,)"),
    "slot": (
        ValueError,
        (W,),
        {"slots": {"m": {}}},
        "slot 'm' must have an array for every gradient, got none for 'w'",
    ),
    "slots": (TypeError, (W,), {"slots": [NORM5]}, "slots must be a mapping from slot names to arrays, got list"),
    "bound of words": (TypeError, (W,), {"clip_norm": "1"}, "clip_norm must be a number, got '1'"),
    "bound": (ValueError, (W,), {"clip_norm": -1.0}, "clip_norm must be positive, got -1.0"),
    "step": (TypeError, (W,), {"step": 1.5}, "step must be an integer, got 1.5"),
    "rate": (TypeError, (W,), {"learning_rate": "fast"}, "learning_rate must be a number, got 'fast'"),
    "loss": (TypeError, (W,), {"loss": np.ones(2)}, "loss must be a number, got array([1., 1.])"),
    "scale of zero": (ValueError, (W,), {"scale": 0}, "scale must be positive and finite, got 0.0"),
    "infinite scale": (ValueError, (W,), {"scale": np.inf}, "scale must be positive and finite, got inf"),
    "name": (
        ValueError,
        ({"\ud800": NORM5},),
        {},
        r"gradients must have names without lone surrogates, got '\ud800'",
    ),
}


@pytest.mark.parametrize(("kind", "arguments", "options", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(writer, kind, arguments, options, message):
    """And nothing is written, or counted."""
    monitor = GradientMonitor(writer)
    step = options.pop("step", 1) if "step" in options else 1
    with pytest.raises(kind) as raised:
        monitor.observe(step, *arguments, **options)
    assert str(raised.value) == message
    assert logged(writer) == {}
    monitor.observe(1, W, clip_norm=1.0)
    assert logged(writer)["gradients/clipped_fraction"] == [(1, 1.0)]


def test_a_closed_writer(logdir):
    writer = EventFileWriter(logdir)
    monitor = GradientMonitor(writer, 2)
    writer.close()
    monitor.observe(1, W)
    monitor.observe(2, W)  # goes on in a new file
    writer.close()
    assert [step for step, _ in logged(writer)["gradients/global_norm"]] == [2]


def test_every_n_steps_must_be_positive(writer):
    with pytest.raises(ValueError, match=r"^every_n_steps must be positive, got 0$"):
        GradientMonitor(writer, 0)


def test_what_was_measured_is_logged_later(writer):
    """And may be dropped; the array is another one by then."""
    monitor = GradientMonitor(writer, histograms_every_n_steps=1)
    gradient = NORM5.copy()
    kept = monitor.measure(1, {"w": gradient}, clip_norm=1.0).kept()
    monitor.measure(1, {"w": gradient})
    gradient[:] = 0.0
    report = monitor.log(kept, 0.5)
    assert (report.global_norm, report.clipped, report.loss) == (5.0, True, 0.5)
    found = logged(writer)
    assert found["gradients/norm/w"] == [(1, 5.0)]
    assert found["gradients/clipped_fraction"] == [(1, 1.0)]
    assert read_run(writer.path).histograms["histograms/gradients/w"][0][:, 2].sum() == 2
    assert read_run(writer.path).histograms["histograms/gradients/w"][0][-1, 1] >= 4.0


def counted_reports(update, rejected=0):
    reports = VariableReports(
        ["w"], [2], [], np.array([[25.0, np.nan, np.nan, 0.0, 0.0]]), has_weights=False, has_updates=False
    )
    reports.update, reports.rejected = update, rejected
    return reports


def test_reports_that_were_observed_before(logdir):
    """Of an earlier step, or of none: only the loss is logged, and what was skipped is counted."""
    with SummaryWriter(logdir) as writer:
        monitor = GradientMonitor(writer)
        for step, (update, rejected) in enumerate([(0, 0), (1, 0), (1, 0), (1, 3), (2, 0)]):
            monitor.observe(step, counted_reports(update, rejected), clip_norm=1.0, loss=step)
    scalars = read_run(logdir).scalars
    assert scalars["gradients/global_norm"].step.tolist() == [1, 4]
    assert scalars["gradients/nonfinite"].value.tolist() == [0.0, 3.0]
    assert scalars["train/loss"].value.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
