"""Tables of random, damaged files, by any condition: the rows of `read_logdir` that fulfil it, and no others."""

import operator

import pytest
from event_data.random_runs import EVENT, TAGS, written
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries import dataset, read_logdir, scan
from summaries.wire.records import frame

pytest.importorskip("pyarrow", reason="an extra")
import pyarrow.dataset as pads

RUNS = ["a", "a/b", "lr=1"]
LEAF = st.one_of(
    st.tuples(st.just("run"), st.sampled_from(["==", "!="]), st.sampled_from([*RUNS, "no"])),
    st.tuples(st.just("tag"), st.sampled_from(["==", "!="]), st.sampled_from(TAGS)),
    st.tuples(st.just("step"), st.sampled_from(["==", ">", "<="]), st.integers(-1, 4)),
    st.tuples(st.just("session"), st.just("=="), st.integers(0, 1)),
)
CONDITION = st.recursive(LEAF, lambda inner: st.tuples(st.sampled_from(["and", "or"]), inner, inner), max_leaves=5)
COMPARISONS = {"==": operator.eq, "!=": operator.ne, ">": operator.gt, "<=": operator.le}


def built(condition, field):
    """A condition as an expression of a library, or of a row."""
    first, second, third = condition
    if first in ("and", "or"):
        combine = operator.and_ if first == "and" else operator.or_
        return combine(built(second, field), built(third, field))
    return COMPARISONS[second](field(first), third)


def rows(logdir):
    """The rows that there should be, as dictionaries."""
    for name, run in read_logdir(logdir).items():
        for tag, series in run.scalars.items():
            starts = run.file_starts(tag)
            points = zip(series.step.tolist(), series.wall_time.tolist(), series.value.tolist(), strict=True)
            for i, (step, wall_time, value) in enumerate(points):
                session = max(number for number, start in enumerate(starts) if start <= i)
                row = {"run": name, "tag": tag, "step": step, "wall_time": wall_time, "value": value}
                yield {**row, "session": session}


@st.composite
def files(draw):
    """An event file, of which one byte may be another one."""
    data = bytearray(b"".join(map(frame, draw(st.lists(EVENT, max_size=12)))))
    if data and draw(st.booleans()):
        data[draw(st.integers(0, len(data) - 1))] ^= 0xFF
    return bytes(data)


RUNS_AND_FILES = st.dictionaries(st.sampled_from(RUNS), st.lists(files(), min_size=1, max_size=2), min_size=1)


def stored(logdir, runs):
    for name, own in runs.items():
        (logdir / name).mkdir(parents=True, exist_ok=True)
        written(logdir / name, own)
    return logdir


@settings(deadline=None)
@given(runs=RUNS_AND_FILES, condition=st.none() | CONDITION)
def test_the_rows_that_fulfil_a_condition(tmp_path_factory, runs, condition):
    logdir = stored(tmp_path_factory.mktemp("logs"), runs)
    want = [row for row in rows(logdir) if condition is None or built(condition, row.get)]
    expression = None if condition is None else built(condition, pads.field)
    found = dataset(logdir).to_table(filter=expression)
    assert repr(found.to_pylist()) == repr(want)  # NaN is not itself
    columns = ["value", "session"]
    some = dataset(logdir).to_table(columns=columns, filter=expression)
    assert repr(some.to_pylist()) == repr([{name: row[name] for name in columns} for row in want])


@settings(deadline=None)
@given(runs=RUNS_AND_FILES, condition=CONDITION)
def test_polars_finds_the_same(tmp_path_factory, runs, condition):
    pl = pytest.importorskip("polars", reason="the extra `polars` is not installed")
    logdir = stored(tmp_path_factory.mktemp("logs"), runs)
    want = [row for row in rows(logdir) if built(condition, row.get)]
    found = scan(logdir).filter(built(condition, pl.col)).collect()
    assert repr(found.to_dicts()) == repr(want)


@settings(deadline=None)
@given(runs=RUNS_AND_FILES, least=st.floats(width=32))
def test_nan_in_a_query_means_what_polars_means(tmp_path_factory, runs, least):
    pl = pytest.importorskip("polars", reason="the extra `polars` is not installed")
    logdir = stored(tmp_path_factory.mktemp("logs"), runs)
    condition = pl.col("value") >= least
    found, everything = scan(logdir).filter(condition).collect(), scan(logdir).collect()
    assert repr(found.to_dicts()) == repr(everything.filter(condition).to_dicts())
