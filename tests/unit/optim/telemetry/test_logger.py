"""What steps leave in the event file: which tags, at which steps, and what is refused."""

import re
import threading

import numpy as np
import pytest
from helpers import logged
from optimizing.clipped import NORM5

from optim import (
    AdamOptimizer,
    GradientDescentOptimizer,
    IndexedSlices,
    Variable,
    clip_gradients_by_norm,
    skip_nonfinite_steps,
    with_summaries,
)
from optim.telemetry.logger import Telemetry
from optim.telemetry.report import StepReport
from summaries import EventFileWriter, NonFiniteWarning, read_run, summary_iterator
from summaries.wire.pb import Layout

LAYOUT = "custom_scalars__config__"


def ticks(seconds=0.5):
    """A clock that moves by so much whenever it is looked at."""
    now = 100.0

    def clock():
        nonlocal now
        now += seconds
        return now

    return clock


def w0(name="w", size=2):
    return Variable(np.zeros(size, np.float32), name=name)


ALONE = {"train/learning_rate": 0.5, "gradients/global_norm": 5.0, "gradients/nonfinite": 0.0}
BOUND = {"gradients/clip_norm": 1.0, "gradients/clipped": 1.0, "gradients/clipped_fraction": 1.0}
OF_W = {
    "gradients/norm/w": 5.0,
    "gradients/zero_fraction/w": 0.0,
    "weights/norm/w": 2.5,
    "updates/norm/w": 2.5,
    "updates/ratio/w": 1.0,
}
CASES = {
    "no clipping": (None, ALONE | OF_W),
    "clipped": (
        1.0,
        ALONE | BOUND | OF_W | {"gradients/clipped_global_norm": 1.0, "weights/norm/w": 0.5, "updates/norm/w": 0.5},
    ),
    "within the bound": (
        6.0,
        ALONE
        | OF_W
        | {
            "gradients/clip_norm": 6.0,
            "gradients/clipped": 0.0,
            "gradients/clipped_fraction": 0.0,
            "gradients/clipped_global_norm": 5.0,
        },
    ),
}


@pytest.mark.parametrize(("bound", "expected"), CASES.values(), ids=CASES)
def test_tags_and_values(writer, bound, expected):
    optimizer = GradientDescentOptimizer(0.5)
    if bound is not None:
        optimizer = clip_gradients_by_norm(optimizer, bound)
    with_summaries(optimizer, writer).apply_gradients([(NORM5, w0())])
    assert logged(writer) == {tag: [(1, value)] for tag, value in expected.items()}


def test_one_event_a_step_and_one_layout_a_run(writer):
    optimizer = with_summaries(AdamOptimizer(), writer, clock=ticks())
    w = w0()
    for _ in range(3):
        optimizer.apply_gradients([(NORM5, w)])
    writer.flush()
    events = [[value.tag for value in event.summary.value] for event in summary_iterator(writer.path)]
    assert [len(tags) for tags in events] == [0, 1, 14, 15, 15]  # steps a second are known from the second on
    assert events[1] == [LAYOUT]


def test_a_run_with_a_layout_of_its_own_keeps_it(writer):
    writer.add_custom_scalars({"mine": {"loss": ["Multiline", ["loss"]]}})
    with_summaries(AdamOptimizer(), writer, layout=False).apply_gradients([(NORM5, w0())])
    writer.flush()
    assert len(read_run(writer.path).tensors[LAYOUT]) == 1


def test_every_line_of_the_layout_draws_something_and_every_tag_of_a_layer_is_drawn(writer):
    optimizer = with_summaries(clip_gradients_by_norm(AdamOptimizer(), 1.0), writer)
    optimizer.apply_gradients([(NORM5, w0("a/b")), (NORM5, w0("gradients/norm"))])
    (content,) = read_run(logged(writer) and writer.path).tensors[LAYOUT]
    layout = Layout.FromString(content.item())
    assert [category.title for category in layout.category] == ["clipping", "layers", "slots"]
    drawn = set()
    for category in layout.category:
        for chart in category.chart:
            for pattern in chart.multiline.tag:
                tags = {tag for tag in logged(writer) if re.match(pattern, tag)}
                assert tags, pattern
                drawn |= tags
    assert {tag for tag in logged(writer) if not tag.startswith("train/")} - drawn == {
        "gradients/clipped",
        "gradients/zero_fraction/a/b",
        "gradients/zero_fraction/gradients/norm",
    }


# Of the steps from 1 to 160, those that 3 divides are clipped: (step, share of clipped steps of the last 100).
FRACTIONS = {
    1: [(step, (step // 3 - max(step - 100, 0) // 3) / min(step, 100)) for step in range(1, 161)],
    7: [(step, (step // 3 - max(step - 100, 0) // 3) / min(step, 100)) for step in range(7, 161, 7)],
    120: [(120, 40 / 120)],  # of all that were not written
}


@pytest.mark.parametrize(("every_n_steps", "expected"), FRACTIONS.items())
def test_clipped_fraction(writer, every_n_steps, expected):
    w = w0()
    optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(0.5), 1.0), writer, every_n_steps)
    for step in range(1, 161):
        optimizer.apply_gradients([(NORM5 * (step % 3 == 0), w)])
    found = logged(writer)
    assert found["gradients/clipped_fraction"] == [(step, float(np.float32(share))) for step, share in expected]
    assert {step for points in found.values() for step, _ in points} == {step for step, _ in expected}


def test_clipped_fraction_every_100_steps(writer):
    w = w0()
    optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(0.5), 1.0), writer, 100)
    for step in range(1, 251):
        optimizer.apply_gradients([(NORM5 * (step % 4 == 1 or step == 150), w)])
    found = logged(writer)
    assert found["gradients/clipped_fraction"] == [(100, 0.25), (200, float(np.float32(0.26)))]
    assert found["gradients/clipped"] == [(100, 0.0), (200, 0.0)]


def test_elements_that_are_not_finite_are_counted_at_all_steps(writer):
    bad = np.float32([np.nan, np.inf])
    optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(0.5), 1.0), writer, 4)
    for gradient in (bad, NORM5, np.float32([1.0, -np.inf]), NORM5, NORM5, NORM5, NORM5, NORM5):
        optimizer.apply_gradients([(gradient, w0())])
    assert logged(writer)["gradients/nonfinite"] == [(4, 3.0), (8, 0.0)]


@pytest.mark.parametrize("outside", [True, False])
def test_a_skipped_step_is_not_written_but_seen_in_the_next(writer, outside):
    w, step = w0(), Variable(0, trainable=False, name="global_step")
    optimizer = GradientDescentOptimizer(0.5)
    if outside:
        optimizer = with_summaries(skip_nonfinite_steps(optimizer), writer)
    else:
        optimizer = skip_nonfinite_steps(with_summaries(optimizer, writer))
    for gradient in (NORM5, np.float32([np.nan, 1.0]), np.float32([np.nan, np.nan]), NORM5):
        optimizer.apply_gradients([(gradient, w)], step)
    found = logged(writer)
    assert found["gradients/global_norm"] == [(1, 5.0), (2, 5.0)]
    assert found["gradients/nonfinite"] == [(1, 0.0), (2, 3.0)]


def test_due_steps_are_the_global_ones(writer):
    """A run that goes on at step 95 writes at step 100."""
    step = Variable(95, trainable=False, name="global_step")
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, 10)
    for _ in range(20):
        optimizer.apply_gradients([(NORM5, w0())], step)
    assert {step for points in logged(writer).values() for step, _ in points} == {100, 110}


def test_steps_that_are_not_written_are_not_measured(writer):
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, 10)
    w = w0()
    reports = [optimizer.apply_gradients([(NORM5, w)]) for _ in range(20)]
    assert [report.step for report in reports if report.global_norm is not None] == [10, 20]
    assert [report.step for report in reports if report.variables] == [10, 20]


def test_steps_a_second(writer):
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, 10, clock=ticks(4.0))
    for _ in range(30):
        optimizer.apply_gradients([(NORM5, w0())])
    assert logged(writer)["train/global_step_per_sec"] == [(20, 2.5), (30, 2.5)]


def test_a_step_that_goes_back_gives_no_rate(writer):
    step = Variable(50, trainable=False, name="global_step")
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, clock=ticks(1.0))
    optimizer.apply_gradients([(NORM5, w0())], step)
    step.assign(10)
    optimizer.apply_gradients([(NORM5, w0())], step)
    assert "train/global_step_per_sec" not in logged(writer)


def test_a_clock_that_stands_still_gives_no_rate(writer):
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer, clock=lambda: 1.0)
    for _ in range(3):
        optimizer.apply_gradients([(NORM5, w0())])
    assert "train/global_step_per_sec" not in logged(writer)


def test_the_loss_that_minimize_computed(writer):
    optimizer = with_summaries(GradientDescentOptimizer(0.5), writer)
    optimizer._apply([(NORM5, w0())], None, report=False, loss=0.25)
    optimizer.apply_gradients([(NORM5, w0())])
    assert logged(writer)["train/loss"] == [(1, 0.25)]


def test_histograms(writer):
    w, table, empty = w0(size=3), Variable(np.ones((4, 2), np.float32), name="table"), w0("empty", 0)
    optimizer = with_summaries(clip_gradients_by_norm(GradientDescentOptimizer(1.0), 1.0), writer, 100, 2)
    rows = IndexedSlices(np.float32([[3.0, 0.0]]), [1])
    for _ in range(5):
        optimizer.apply_gradients([(np.float32([0, 3, 4]), w), (rows, table), (np.zeros(0, np.float32), empty)])
    writer.flush()
    found = read_run(writer.path).histograms
    assert set(found) == {f"histograms/{kind}/{name}" for kind in ("gradients", "weights") for name in ("w", "table")}
    assert all(items.step.tolist() == [2, 4] for items in found.values())
    counts = {tag: float(np.sum(items[0][:, 2])) for tag, items in found.items()}
    assert counts == {
        "histograms/gradients/w": 3,
        "histograms/weights/w": 3,
        "histograms/gradients/table": 2,
        "histograms/weights/table": 8,
    }
    gradient = found["histograms/gradients/w"][0]  # as it came, not as it was clipped
    assert gradient[-1, 0] <= 4 <= gradient[-1, 1]


def test_a_histogram_of_a_gradient_that_is_not_finite_warns_and_is_written(writer):
    optimizer = with_summaries(GradientDescentOptimizer(0.0), writer, 1, 1)
    w = Variable([1.0, 2.0], name="w")
    with pytest.warns(NonFiniteWarning) as warned:
        optimizer.apply_gradients([(np.float32([1.0, np.nan]), w)])
    assert {str(warning.message).split("'")[1] for warning in warned} == {
        f"histograms/{kind}/w" for kind in ("gradients", "weights")
    }
    writer.flush()
    assert len(read_run(writer.path).histograms["histograms/gradients/w"]) == 1


@pytest.mark.parametrize("by_name", [True, False])
def test_only_chosen_variables_have_tags_of_their_own(writer, by_name):
    one, two = w0("one"), w0("two")
    optimizer = with_summaries(AdamOptimizer(), writer, 1, 1, ["two" if by_name else two])
    optimizer.apply_gradients([(NORM5, one), (NORM5, two)])
    found = logged(writer)
    assert not [tag for tag in found if "one" in tag]
    assert {"gradients/norm/two", "slots/m/max/two"} <= set(found)
    assert set(read_run(writer.path).histograms) == {"histograms/gradients/two", "histograms/weights/two"}


def test_no_variable_chosen_and_none_is_measured(writer):
    report = with_summaries(AdamOptimizer(), writer, variables=[]).apply_gradients([(NORM5, w0())])
    assert set(logged(writer)) == set(ALONE)
    assert (report.global_norm, report.variables) == (5.0, ())


def test_variables_that_share_a_name_are_told_apart(writer):
    """And keep their names when one of them has no gradient."""
    variables = [w0("Variable"), w0("Variable"), w0("Variable_1")]
    optimizer = with_summaries(GradientDescentOptimizer(1.0), writer, variables=[variables[1], variables[2]])
    optimizer.apply_gradients([(NORM5 * (i + 1), variable) for i, variable in enumerate(variables)])
    optimizer.apply_gradients([(None, variables[0]), (NORM5 * 2, variables[1])])
    norms = {tag: points for tag, points in logged(writer).items() if tag.startswith("gradients/norm/")}
    assert norms == {"gradients/norm/Variable_1": [(1, 10.0), (2, 10.0)], "gradients/norm/Variable_1_1": [(1, 15.0)]}


def test_variables_come_and_go_and_change_their_shape(writer):
    first, second = w0("first"), w0("second", 3)
    optimizer = with_summaries(AdamOptimizer(), writer)
    optimizer.apply_gradients([(NORM5, first)])
    optimizer.apply_gradients([(None, first), (np.ones(3, np.float32), second)])
    optimizer.apply_gradients([(NORM5, first), (np.zeros(3, np.float32), second)])
    found = logged(writer)
    assert found["gradients/norm/first"] == [(1, 5.0), (3, 5.0)]
    assert [step for step, _ in found["slots/v/mean/second"]] == [2, 3]
    assert found["gradients/zero_fraction/second"] == [(2, 0.0), (3, 1.0)]


def test_a_name_of_any_characters(writer):
    name = "Größe [0] $(x)\n.*/😀 "
    with_summaries(GradientDescentOptimizer(1.0), writer).apply_gradients([(NORM5, w0(name))])
    assert logged(writer)[f"gradients/norm/{name}"] == [(1, 5.0)]


def test_more_values_than_float32_holds(writer):
    w = Variable(np.array([1.0]), name="w")
    with_summaries(GradientDescentOptimizer(0.0), writer).apply_gradients([(np.array([1e300]), w)])
    found = logged(writer)
    assert found["gradients/global_norm"] == [(1, np.inf)]
    assert found["gradients/nonfinite"] == [(1, 0.0)]


def test_threads_that_share_an_optimizer(writer):
    w, step = w0(), Variable(0, trainable=False, name="global_step")
    optimizer = with_summaries(GradientDescentOptimizer(0.0, use_locking=True), writer, clock=ticks())

    def work():
        for _ in range(50):
            optimizer.apply_gradients([(NORM5, w)], step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [step for step, _ in logged(writer)["weights/norm/w"]] == list(range(1, 201))


def test_a_writer_that_is_closed_goes_on_in_a_new_file(writer):
    w = w0()
    optimizer = with_summaries(GradientDescentOptimizer(1.0), writer)
    optimizer.apply_gradients([(NORM5, w)])
    first = writer.path
    writer.close()
    optimizer.apply_gradients([(NORM5, w)])
    writer.close()
    assert writer.path != first
    assert [step for step, _ in logged(writer)["gradients/global_norm"]] == [1, 2]


def test_a_name_that_no_tag_can_have_refuses_the_step_before_it_is_made(writer):
    w = w0("\ud800")
    with pytest.raises(ValueError, match=r"^tag must be Unicode text without lone surrogates, got '\\ud800'$"):
        with_summaries(GradientDescentOptimizer(1.0), writer).apply_gradients([(NORM5, w)])
    assert w.value.tolist() == [0, 0]


REFUSED = {
    "no steps": (ValueError, (0,), "every_n_steps must be positive, got 0"),
    "fewer": (ValueError, (-1,), "every_n_steps must be positive, got -1"),
    "half a step": (TypeError, (1.5,), "every_n_steps must be an integer, got 1.5"),
    "no number": (TypeError, (None,), "every_n_steps must be an integer, got None"),
    "histograms": (ValueError, (1, 0), "histograms_every_n_steps must be positive, got 0"),
    "one name": (TypeError, (1, None, "w"), "variables must be a list of Variables or of names, got 'w'"),
    "a number": (TypeError, (1, None, 3), "variables must be a list of Variables or of names, got 3"),
    "numbers": (TypeError, (1, None, [3]), "variables must be Variables or names, got int: 3"),
}


@pytest.mark.parametrize(("kind", "arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(writer, kind, arguments, message):
    with pytest.raises(kind) as raised:
        with_summaries(GradientDescentOptimizer(0.5), writer, *arguments)
    assert str(raised.value) == message


def test_histograms_need_a_summary_writer(logdir):
    with EventFileWriter(logdir) as writer:
        with pytest.raises(TypeError, match=r"^histograms need a SummaryWriter, got EventFileWriter$"):
            with_summaries(GradientDescentOptimizer(0.5), writer, 1, 10)
        with_summaries(GradientDescentOptimizer(0.5), writer).apply_gradients([(NORM5, w0())])


def test_a_path_is_no_writer():
    with pytest.raises(TypeError, match=r"^writer must be a SummaryWriter or an EventFileWriter, got str$"):
        with_summaries(GradientDescentOptimizer(0.5), "runs/first")


def test_the_same_writer_twice_is_refused(writer):
    optimizer = clip_gradients_by_norm(with_summaries(GradientDescentOptimizer(0.5), writer), 1.0)
    message = f"this optimizer already logs to {writer.path}: use another writer"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        with_summaries(optimizer, writer, 10)


def test_a_write_that_fails_is_made_up_for(writer, monkeypatch):
    """What was counted until then is in the next."""
    telemetry = Telemetry(writer)
    with monkeypatch.context() as patch:
        patch.setattr(writer, "add_summary", lambda *_: (_ for _ in ()).throw(OSError("no room")))
        with pytest.raises(OSError, match="no room"):
            telemetry.observe(StepReport(1, 0.5, 2.0, 1.0, clipped=True, nonfinite=0))
    telemetry.observe(StepReport(2, 0.5, 0.5, 1.0, clipped=False, nonfinite=0))
    assert logged(writer)["gradients/clipped_fraction"] == [(2, 0.5)]
