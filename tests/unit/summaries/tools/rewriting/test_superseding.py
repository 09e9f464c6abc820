"""Superseding: the values that stand are those of `latest`, with memory for restarts only."""

import numpy as np
from engines import BOTH, read_run, reader_of, using
from event_data.events import summary_events
from hypothesis import given
from hypothesis import strategies as st

from summaries import Event, SessionLog, Summary, read_events
from summaries.storage.logdir import run_files
from summaries.tools import merge
from summaries.tools.rewriting.superseding import Latest
from summaries.wire.records import frame
from summaries.wire.scalars import encode_scalar

STARTS = st.integers(0, 12).map(
    lambda step: frame(Event(step=step, session_log=SessionLog(status=SessionLog.START)).SerializeToString())
)
SCALARS = st.builds(encode_scalar, st.sampled_from("ab"), st.integers(0, 12), st.just(1.0), st.integers(0, 99))
FILES = st.lists(
    st.lists(st.one_of(SCALARS, SCALARS, SCALARS, STARTS), min_size=1, max_size=15), min_size=1, max_size=3
)


def latest_of(directory):
    latest = {tag: series.latest() for tag, series in read_run(directory).scalars.items()}
    return {
        tag: list(zip(series.step.tolist(), series.value.tolist(), strict=True))
        for tag, series in latest.items()
        if len(series)
    }


def points_of(directory):
    return {
        tag: list(zip(series.step.tolist(), series.value.tolist(), strict=True))
        for tag, series in read_run(directory).scalars.items()
    }


@given(FILES)
def test_what_stands_is_what_latest_says(tmp_path_factory, files):
    place = tmp_path_factory.mktemp("x")
    (place / "run").mkdir()
    for number, records in enumerate(files):
        (place / "run" / f"{number}.tfevents").write_bytes(b"".join(records))
    latest = latest_of(place / "run")
    for engine in BOTH:
        with using(engine):
            merge([place / "run"], place / engine, latest=True)
        assert points_of(place / engine) == latest


def test_many_files(tmp_path):
    """A place is that of a value among those of all files, however many there are."""
    (tmp_path / "run").mkdir()
    for number in range(40):
        records = [encode_scalar("a", number, 1.0, number), encode_scalar("b", 39 - number, 1.0, number)]
        (tmp_path / "run" / f"{number:02}.tfevents").write_bytes(b"".join(records))
    merge([tmp_path / "run"], tmp_path / "out", latest=True)
    assert points_of(tmp_path / "out") == {"a": [(i, float(i)) for i in range(40)], "b": [(0, 39.0)]}


@given(st.lists(summary_events(st.integers(0, 5)), min_size=1, max_size=10))
def test_values_of_other_kinds_and_metadata(tmp_path_factory, events):
    """By the definition: no later value of the tag has its step or a lower one; bare metadata stays."""
    place = tmp_path_factory.mktemp("x")
    (place / "in.tfevents").write_bytes(b"".join(map(frame, events)))
    merge([place / "in.tfevents"], place / "out", latest=True)
    values = [(e.step, v.tag, v.WhichOneof("value")) for e in map(Event.FromString, events) for v in e.summary.value]
    stand = [
        (step, tag, kind)
        for i, (step, tag, kind) in enumerate(values)
        if kind is None or not any(t == tag and s <= step and k for s, t, k in values[i + 1 :])
    ]
    (file,) = run_files(place / "out")
    left = list(read_events(file.path))
    assert [(e.step, v.tag, v.WhichOneof("value")) for e in left for v in e.summary.value] == stand


def test_what_is_kept_does_not_grow_with_the_file(tmp_path):
    """Of thousands of points with two restarts, a place for each; of points that all have one step, none."""
    steps = np.concatenate([np.arange(4_000), np.arange(2_000, 6_000), np.arange(1_000, 8_000)])
    data = b"".join(encode_scalar("a", int(step), 1.0, 0.0) + encode_scalar("b", 5, 1.0, 0.0) for step in steps)
    (tmp_path / "x.tfevents").write_bytes(data)
    source, latest = reader_of("plain"), Latest()
    latest.begin_file(0)
    for index in source.read(run_files(tmp_path)[0]):
        latest.see(index, source.tags)
    assert len(latest._returns) == 2


def test_a_value_without_a_summary_event(tmp_path):
    (tmp_path / "x.tfevents").write_bytes(
        frame(Event(summary=Summary()).SerializeToString()) + encode_scalar("a", 1, 1.0, 2.0)
    )
    assert merge([tmp_path / "x.tfevents"], tmp_path / "out", latest=True).events == 2
