"""Plots of scalars: which points are drawn, smoothed as in TensorBoard, restarts marked; names of any kind."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries import Series, SummaryWriter, read_logdir
from summaries.presenting.plots import smoothed

matplotlib = pytest.importorskip("matplotlib", reason="the extra `images` is not installed")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
HOSTILE = "_\\frac{$x_\x1b[31m<b>"


@pytest.fixture(autouse=True)
def _closed():
    plt.close("all")  # other tests' figures
    yield
    plt.close("all")


def series(value, tag="loss", step=None, restarts=()):
    value = np.asarray(value, np.float64)
    step = np.arange(len(value)) if step is None else np.asarray(step)
    return Series(tag, step, 3600.0 * np.arange(len(value)), value, restarts)


@pytest.fixture
def runs(tmp_path):
    for name in ("a", "b"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(5):
                for tag in ("train/loss", "val/loss", "lr"):
                    writer.add_scalar(tag, step, step)
    with SummaryWriter(tmp_path / "b") as writer:
        writer.add_scalar("only b", 1.0, 0)
    return read_logdir(tmp_path)


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_series_in_the_current_axes():
    axes = series([3.0, 1.0, 2.0]).plot()
    assert axes is plt.gca()
    (line,) = axes.get_lines()
    assert line.get_xydata().tolist() == [[0, 3], [1, 1], [2, 2]]
    assert (axes.get_xlabel(), axes.get_yscale(), labels(axes)) == ("step", "linear", ["loss"])
    series([1.0, 1.0]).plot(axes, label="another", color="red", logy=True)
    assert labels(axes) == ["loss", "another"]
    assert axes.get_lines()[1].get_color() == "red"
    assert axes.get_yscale() == "log"


def test_by_time():
    assert series([1.0, 2.0]).plot(x="relative").get_lines()[0].get_xdata().tolist() == [0.0, 1.0]
    plt.figure()
    odd = Series("loss", np.arange(4), np.array([0.0, 3600.0, np.nan, 1e300]), np.arange(4.0))
    axes = odd.plot(x="wall")
    times = axes.get_lines()[0].get_xdata(orig=True)
    assert times[:2].tolist() == np.array(["1970-01-01T00", "1970-01-01T01"], "datetime64[us]").tolist()
    assert np.isnat(times[2:]).all()
    axes.figure.canvas.draw()


def test_smoothing_keeps_the_values_fainter():
    axes = series([1.0, 0.0, 0.0]).plot(smoothing=0.5)
    line, faint = axes.get_lines()
    assert line.get_ydata() == pytest.approx([1, 1 / 3, 1 / 7])
    assert faint.get_ydata().tolist() == [1.0, 0.0, 0.0]
    assert faint.get_alpha() < 1
    assert faint.get_color() == line.get_color()
    assert labels(axes) == ["loss"]


def test_a_restart_is_marked_and_what_it_superseded_is_fainter():
    resumed = series([0.0, 1.0, 2.0, 3.0, 20.0, 30.0], step=[0, 1, 2, 3, 2, 3], restarts=((4, 2),))
    axes = resumed.plot()
    line, faint = axes.get_lines()
    assert line.get_xydata().tolist() == [[0, 0], [1, 1], [2, 20], [3, 30]]
    assert [tuple(point) for point in faint.get_xydata() if np.isfinite(point[1])] == [(2, 2), (3, 3)]
    in_time = resumed.plot(plt.figure().add_subplot(), x="relative").get_lines()[0]
    assert in_time.get_ydata() == pytest.approx([0, 1, np.nan, np.nan, 20, 30], nan_ok=True)
    (mark,) = axes.collections
    assert [path.vertices[:, 0].tolist() for path in mark.get_paths()] == [[2, 2]]


def test_without_restarts_nothing_is_marked():
    assert not series([1.0, 2.0, 3.0], step=[0, 0, 1]).plot().collections


def test_points_without_neighbours_are_dots():
    nan = np.nan
    (line,) = series([1.0, nan, 2.0, 3.0, nan, 4.0]).plot(smoothing=0.5).get_lines()[:1]
    assert (line.get_marker(), line.get_markevery()) == (".", [0, 5])
    (line,) = series([7.0]).plot(plt.figure().gca()).get_lines()
    assert line.get_markevery() == [0]
    lines = series([5.0, 6.0, 4.0], step=[0, 1, 1]).plot(plt.figure().gca()).get_lines()
    assert [(line.get_marker(), line.get_markevery()) for line in lines] == [("None", None), (".", [1])]
    (line,) = series([7.0]).plot(plt.figure().gca(), marker="x", markevery=1).get_lines()
    assert (line.get_marker(), line.get_markevery()) == ("x", 1)


def test_a_run_in_one_plot_and_in_several(runs):
    run = runs["a"]
    assert labels(run.plot()) == ["train/loss", "val/loss", "lr"]
    axes = run.plot(["*loss"], subplots=True)
    assert isinstance(axes, np.ndarray)
    assert [one.get_title() for one in axes] == ["train/loss", "val/loss"]
    assert [len(one.get_lines()) for one in axes] == [1, 1]
    assert axes[0].get_legend() is None
    assert len(axes[0].figure.axes) == 2
    assert len(run.plot(subplots=True, smoothing=0.5, x="relative", logy=True)) == 3
    own = plt.figure().add_subplot()
    assert run.plot("lr", own) is own
    assert labels(own) == ["lr"]


def test_runs_beside_each_other(runs):
    axes = runs.plot("val/loss")
    assert (labels(axes), axes.get_title()) == (["a", "b"], "val/loss")
    assert labels(runs.plot(["lr", "only b"])) == ["a: lr", "b: lr", "b: only b"]
    several = runs.plot("*loss", subplots=True)
    assert [(one.get_title(), labels(one)) for one in several] == [("train/loss", ["a", "b"]), ("val/loss", ["a", "b"])]


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        ({"tags": "los"}, KeyError, "no scalars are tagged 'los'; did you mean 'val/loss' or 'train/loss'?"),
        ({"tags": ["lr", "x*"]}, KeyError, "no scalars are tagged 'x*'; there are 'train/loss', 'val/loss' and lr"),
        ({"x": "time"}, ValueError, "x must be 'step', 'relative' or 'wall', got 'time'"),
        ({"tags": []}, LookupError, "there are no scalars to plot"),
        ({"smoothing": 1.0}, ValueError, "smoothing must be at least 0 and less than 1, got 1"),
        ({"smoothing": float("nan")}, ValueError, "smoothing must be at least 0 and less than 1, got nan"),
    ],
)
def test_what_cannot_be_plotted(runs, arguments, kind, told):
    with pytest.raises(kind) as raised:
        runs["a"].plot(**arguments)
    assert str(raised.value) == told.replace("and lr", "and 'lr'")
    assert plt.get_fignums() == []


def test_too_many(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for number in range(51):
            writer.add_scalar(f"layer {number}", 1.0, 0)
    (run,) = read_logdir(tmp_path).values()
    for subplots, what in ((False, "lines"), (True, "plots")):
        with pytest.raises(ValueError, match=r"^a figure") as raised:
            run.plot(subplots=subplots)
        told = f"a figure has room for 50 {what}, got 51: choose fewer tags, as in tags='loss*'"
        assert str(raised.value) == told
    with pytest.raises(ValueError, match=r"^subplots=True makes a figure of its own: leave out ax$"):
        run.plot("layer 1", plt.gca(), subplots=True)
    assert labels(run.plot("layer 1")) == ["layer 1"]


def test_no_scalars(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_text("note", "text", 0)
    with pytest.raises(LookupError, match=r"^there are no scalars to plot$"):
        read_logdir(logdir.parent)["run"].plot()


def test_a_tag_that_looks_like_a_pattern(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("loss[0]", 1.0, 0)
        writer.add_scalar("loss0", 1.0, 0)
    run = read_logdir(logdir.parent)["run"]
    assert labels(run.plot("loss[0]")) == ["loss[0]", "loss0"]  # the pattern's, and the one that is spelled out


def test_names_of_any_kind_are_text():
    hostile = series([1.0, 2.0], HOSTILE)
    axes = hostile.plot()
    assert labels(axes) == [" _\\frac{$x_\\x1b[31m<b>"]
    axes.figure.canvas.draw()


def test_odd_values_are_drawn():
    for values in ([], [np.nan], [np.nan, np.inf, -np.inf, 1.0], [1e300, -1e300]):
        axes = series(values).plot(plt.figure().add_subplot(), smoothing=0.9)
        axes.figure.canvas.draw()


def tensorboard(values, weight):
    """TensorBoard's `resmoothDataset`, a value at a time."""
    last, count, found = 0.0, 0, []
    constant = all(value == values[0] for value in values)
    for value in values:
        if constant or not np.isfinite(value):
            found.append(value)
            continue
        last = last * weight + (1 - weight) * value
        count += 1
        found.append(last / (1 - weight**count if weight != 1 else 1))
    return found


@given(st.lists(st.floats(width=32), max_size=50), st.sampled_from([0.0, 0.1, 0.6, 0.99, 0.999]))
def test_smoothing_is_tensorboards(values, weight):
    found = smoothed(np.array(values, np.float64), weight)
    assert np.allclose(found, tensorboard(values, weight), rtol=1e-9, atol=1e-30, equal_nan=True)


def test_without_matplotlib():
    program = """
import sys
sys.modules["matplotlib"] = None
import numpy as np
from summaries import Series
try:
    Series("loss", np.arange(2), np.arange(2.0), np.arange(2.0)).plot()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "this needs matplotlib: pip install 'gradledger[images]'\n"
