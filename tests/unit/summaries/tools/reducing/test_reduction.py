"""Reduce: statistics over runs, beside pandas' groupby; what is left out, and why."""

import csv
import os

import numpy as np
import pytest
from helpers import event_files
from hypothesis import given
from hypothesis import strategies as st

from summaries import Run, SummaryWriter, read_logdir, read_run
from summaries.reading.series import Series
from summaries.tools import reduce
from summaries.writing.columns_writer import ColumnsWriter

pd = pytest.importorskip("pandas", reason="an extra")

NAN, INF = np.nan, np.inf
AGGREGATES = {"mean": "mean", "std": "std", "min": "min", "max": "max", "median": "median", "count": "count"}


class Scalars:
    """As much of a Run as is reduced."""

    faults = ()

    def __init__(self, **tags):
        self.scalars = {tag: one if isinstance(one, Series) else series(tag, one) for tag, one in tags.items()}


def series(tag, points):
    step = np.array([step for step, *_ in points], np.int64)
    return Series(tag, step, 1e9 + np.arange(len(points)), np.array([value for _, value in points], float))


def logged(logdir, values):
    """Runs of a log directory: name → tag → {step: value}."""
    for name, tags in values.items():
        with ColumnsWriter(logdir / name) as writer:
            for tag, points in tags.items():
                steps = np.array(list(points), np.int64)
                numbers = np.full(len(steps), writer.number_of(tag))
                writer.add_scalars(numbers, steps, 1e9 + steps, np.array(list(points.values()), float))
    return logdir


@pytest.fixture
def logdir(tmp_path):
    """Three seeds: the same tag at other steps, a tag that two have, and one that a single run has."""
    rng = np.random.default_rng(0)
    values = {
        f"seed={seed}": {
            "loss": {step: rng.normal() for step in range(10 + seed)},
            **({"acc": {step: rng.normal() for step in range(0, 10, 1 + seed)}} if seed else {}),
            **({"only": {0: 1.0}} if seed == 2 else {}),
        }
        for seed in range(3)
    }
    return logged(tmp_path / "logs", values)


@pytest.mark.parametrize("align", ["exact", "union"])
def test_as_pandas_groups(logdir, align):
    reduced = reduce([logdir], AGGREGATES, align=align)
    frame = read_logdir(logdir).to_pandas().astype({"tag": str})
    expected = frame.groupby(["tag", "step"], observed=True, sort=False)["value"].agg(list(AGGREGATES.values()))
    if align == "exact":
        having = frame.groupby("tag", observed=True)["run"].nunique()
        expected = expected[expected["count"] == having.reindex(expected.index.get_level_values("tag")).to_numpy()]
    found = reduced.to_pandas().astype({"tag": str})
    found = found.set_index(["tag", "step"])[list(AGGREGATES)]
    pd.testing.assert_frame_equal(found.sort_index(), expected.sort_index(), check_dtype=False, check_index_type=False)


def test_what_is_left_out_is_told(logdir):
    reduced = reduce([logdir], "mean")
    names = tuple(os.path.join(logdir, f"seed={seed}") for seed in range(3))
    assert reduced.runs == names
    assert dict(reduced.missing) == {"acc": names[:1], "only": names[:2]}
    assert (list(reduced), reduced.left_out) == (["loss", "acc", "only"], ())
    assert [(len(one), one.runs, one.steps_left_out) for one in reduced.values()] == [
        (10, names, 2),
        (2, names[1:], 5),
        (1, names[2:], 0),
    ]
    assert repr(reduced) == "Reduced(3 runs, 3 tags: mean)"


@pytest.mark.parametrize(
    ("least", "tags", "steps"),
    [(2, ["loss", "acc"], [11, 2]), (3, ["loss"], [10]), ("all", ["loss"], [10]), (9, [], [])],
)
def test_tags_and_steps_that_too_few_have(logdir, least, tags, steps):
    reduced = reduce([logdir], "mean", align="union", min_runs=least)
    assert list(reduced) == tags
    assert [len(one) for one in reduced.values()] == steps
    assert set(reduced.left_out) == {"loss", "acc", "only"} - set(tags)


def test_patterns_of_tags(logdir):
    assert list(reduce([logdir], "mean", tags=["a*", "only"])) == ["acc", "only"]


def test_one_of_each_is_no_plural(logdir):
    assert repr(reduce([logdir / "seed=0"], ["mean", "std"])) == "Reduced(1 run, 1 tag: mean, std)"


def test_names_that_are_not_there(logdir):
    reduced = reduce([logdir], "mean")
    with pytest.raises(KeyError) as raised:
        reduced["los"]
    assert str(raised.value) == "there are no statistics of the tag 'los'; did you mean 'loss'?"
    with pytest.raises(KeyError) as raised:
        reduced["loss"]["q0.9"]
    assert str(raised.value) == "there is no statistic 'q0.9'; there is 'mean'"
    assert ("los" in reduced, reduced.get("los")) == (False, None)


def test_nan_shows_or_is_skipped():
    runs = {"a": Scalars(x=[(0, 1.0), (1, NAN), (2, NAN)]), "b": Scalars(x=[(0, 3.0), (1, 3.0), (2, NAN)])}
    shows, skips = (reduce(runs, ["mean", "count"], skip_nan=skip)["x"] for skip in (False, True))
    np.testing.assert_equal(shows["mean"].value, [2.0, NAN, NAN])
    np.testing.assert_equal(shows["count"].value, [2.0, NAN, NAN])
    assert (skips["mean"].value.tolist(), skips["count"].value.tolist()) == ([2.0, 3.0], [2.0, 1.0])
    assert (shows.nans, skips.nans, shows.steps_left_out, skips.steps_left_out) == (3, 3, 0, 1)


def test_nan_is_bridged_as_in_pandas():
    a, b = [(0, 0.0), (1, NAN), (4, 4.0)], [(0, 0.0), (2, NAN), (3, 9.0)]
    found = reduce({"a": Scalars(x=a), "b": Scalars(x=b)}, "mean", align="interpolate", skip_nan=True)["x"]
    frame = pd.concat([pd.Series(dict(a)), pd.Series(dict(b))], axis=1).sort_index()
    expected = frame.interpolate(method="index", limit_area="inside").mean(axis=1).dropna()
    np.testing.assert_allclose(found["mean"].value, expected.to_numpy())
    assert found.step.tolist() == expected.index.tolist() == [0, 1, 2, 3, 4]


def test_infinite_values_count():
    runs = {"a": Scalars(x=[(0, INF), (1, -INF)]), "b": Scalars(x=[(0, 3.0), (1, INF)])}
    found = reduce(runs, ["mean", "std", "min", "max"], skip_nan=True)["x"]
    np.testing.assert_equal(
        [found[name].value.tolist() for name in ("mean", "std", "min", "max")],
        [[INF, NAN], [NAN, NAN], [3.0, -INF], [INF, INF]],
    )


def test_repeated_steps_and_restarts(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        for step, value in [(0, 9.0), (1, 9.0), (2, 9.0), (1, 1.0), (1, 2.0), (5, 9.0)]:
            writer.add_scalar("x", value, step)
    with SummaryWriter(tmp_path / "a", purge_step=2) as writer:
        writer.add_scalar("x", 3.0, 2)
    found = reduce([tmp_path], ["mean", "std"])["x"]
    assert (found.step.tolist(), found["mean"].value.tolist(), found.superseded) == ([0, 1, 2], [9.0, 2.0, 3.0], 4)
    assert np.isnan(found["std"].value).all()  # of one run


@pytest.mark.parametrize("ddof", [0, 1, 2])
def test_the_denominator_of_the_standard_deviation(ddof):
    values = [1.0, 2.0, 4.0, 8.0]
    runs = {str(value): Scalars(x=[(0, value)]) for value in values}
    found = reduce(runs, ["std", "mean+std", "mean-std"], ddof=ddof)["x"]
    std = np.std(values, ddof=ddof)
    expected = [[std], [3.75 + std], [3.75 - std]]
    np.testing.assert_allclose([found[name].value for name in ("std", "mean+std", "mean-std")], expected)


runs_of_points = st.dictionaries(
    st.integers(0, 30), st.one_of(st.floats(-1e6, 1e6), st.just(NAN)), min_size=1, max_size=12
)


@given(st.lists(runs_of_points, min_size=1, max_size=4), st.integers(1, 3))
def test_union_skips_as_pandas_does(runs, least):
    given_runs = {str(i): Scalars(x=sorted(points.items())) for i, points in enumerate(runs)}
    reduced = reduce(given_runs, ["mean", "q0.25", "median"], align="union", min_runs=least, skip_nan=True)
    frame = pd.concat([pd.Series(points, dtype=float) for points in runs], axis=1).sort_index()
    frame = frame[frame.count(axis=1) >= least]
    if least > len(runs):
        assert list(reduced) == []
        return
    assert reduced["x"].step.tolist() == frame.index.tolist()
    expected = frame.mean(axis=1), frame.quantile(0.25, axis=1), frame.median(axis=1)
    for name, column in zip(reduced.statistics, expected, strict=True):
        np.testing.assert_allclose(reduced["x"][name].value, column.to_numpy(), rtol=1e-9, atol=1e-6)


def test_a_run_for_each_statistic(logdir, tmp_path):
    reduced = reduce([logdir], ["mean", "mean+std", "q0.5"])
    reduced.write(tmp_path / "out")
    written = read_logdir(tmp_path / "out")
    assert list(written) == ["mean", "mean+std", "q0.5"]
    assert {one.name for one in tmp_path.iterdir()} == {"logs", "out"}
    for name, run in written.items():
        assert (list(run.scalars), run.faults) == (list(reduced), ())
        for tag, one in reduced.items():
            assert run.scalars[tag].step.tolist() == one.step.tolist()
            assert run.scalars[tag].wall_time.tolist() == one.wall_time.tolist()
            np.testing.assert_equal(run.scalars[tag].value, one[name].value.astype(np.float32))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table(logdir, tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow", reason="an extra")
    reduced = reduce([logdir], ["mean", "std"], align="union")
    target = tmp_path / f"out.{ending}"
    reduced.write(target)
    frame = pd.read_csv(target) if ending == "csv" else pd.read_parquet(target)
    expected = reduced.to_pandas()
    assert list(frame.columns) == ["tag", "step", "wall_time", "mean", "std"]
    pd.testing.assert_frame_equal(
        frame.assign(tag=frame["tag"].astype("category").cat.set_categories(list(reduced))),
        expected,
        check_exact=True,
        check_categorical=False,
    )


def test_a_long_table_is_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("summaries.tools.formats.csv_file._CELLS", 9)
    reduced = reduce({"a": Scalars(x=[(i, float(i)) for i in range(10)], y=[(i, -float(i)) for i in range(4)])}, "mean")
    reduced.write(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        rows = [(row["tag"], int(row["step"]), float(row["mean"])) for row in csv.DictReader(file)]
    assert rows == [("x", i, float(i)) for i in range(10)] + [("y", i, -float(i)) for i in range(4)]


@pytest.mark.parametrize("name", ["out", "out.csv", "out.parquet"])
def test_nothing_is_replaced(logdir, tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow", reason="an extra")
    target = tmp_path / name
    if "." in name:
        target.write_text("precious")
    else:
        target.mkdir()
        (target / "precious").touch()
    with pytest.raises(FileExistsError, match=r"^the output must be a new "):
        reduce([logdir]).write(target)
    assert target.read_text() == "precious" if "." in name else os.listdir(target) == ["precious"]


def test_runs_without_scalars(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        writer.add_text("note", "hello", 0)
    reduced = reduce([tmp_path / "a"], "mean")
    assert (len(reduced), len(reduced.to_pandas())) == (0, 0)
    reduced.write(tmp_path / "out")
    assert len(event_files(tmp_path / "out" / "mean")) == 1
    assert isinstance(read_run(tmp_path / "out" / "mean"), Run)


def test_the_runs_are_heard_of_in_order(logdir):
    heard = []
    reduce([logdir / "seed=2", logdir / "seed=0"], on_run=lambda name, run: heard.append((name, len(run.scalars))))
    assert heard == [(str(logdir / "seed=2"), 3), (str(logdir / "seed=0"), 1)]


@pytest.mark.parametrize(
    ("runs", "options", "text"),
    [
        ([], {}, "there must be at least one run, got none"),
        ({}, {}, "there must be at least one run, got none"),
        (["LOGDIR/seed=0", "LOGDIR"], {}, "each run must be given once, got LOGDIR/seed=0 twice"),
        ({}, {"statistics": ()}, "there must be at least one statistic, got none"),
        ({}, {"align": "outer"}, "align must be one of exact, union, interpolate, got 'outer'"),
        ({}, {"min_runs": 0}, "min_runs must be at least 1, or 'all', got 0"),
        ({}, {"ddof": -1}, "ddof must be 0 or more, got -1"),
    ],
)
def test_what_cannot_be(logdir, runs, options, text):
    runs = [place.replace("LOGDIR", str(logdir)) for place in runs] if isinstance(runs, list) else runs
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        reduce(runs, **options)
    assert str(caught.value) == text.replace("LOGDIR", str(logdir))


def test_one_path_is_no_sequence_of_paths():
    with pytest.raises(TypeError) as caught:
        reduce("runs")
    assert str(caught.value) == "runs must be runs by name or a sequence of paths, got one path: 'runs'"
