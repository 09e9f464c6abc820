"""Shifting: steps and times move, and no scalar's step below zero."""

import pytest

from summaries import Event, SessionLog, Summary, SummaryWriter, read_events, read_run
from summaries.tools import shift
from summaries.wire.records import frame
from summaries.wire.scalars import encode_scalar


@pytest.fixture
def run(tmp_path):
    events = [
        Event(wall_time=10.0, file_version="brain.Event:2"),
        Event(wall_time=11.0, graph_def=b"graph"),
        Event(wall_time=11.0, step=50, session_log=SessionLog(status=SessionLog.START)),
    ]
    (tmp_path / "run").mkdir()
    records = [encode_scalar("loss", step, 100.0 + step, step) for step in (50, 51, 60)]
    data = b"".join([*(frame(event.SerializeToString()) for event in events), *records])
    (tmp_path / "run" / "x.tfevents").write_bytes(data)
    return tmp_path / "run"


def read(directory):
    return [(event.step, event.wall_time) for event in read_events(directory / "x.tfevents")]


CASES = [
    ({"steps": 10}, [(0, 10), (10, 11), (60, 11), (60, 150), (61, 151), (70, 160)]),
    ({"steps": -50}, [(0, 10), (0, 11), (0, 11), (0, 150), (1, 151), (10, 160)]),
    ({"to_zero": True}, [(0, 10), (0, 11), (0, 11), (0, 150), (1, 151), (10, 160)]),
    ({"seconds": -5.5}, [(0, 4.5), (0, 5.5), (50, 5.5), (50, 144.5), (51, 145.5), (60, 154.5)]),
    ({"steps": 1, "seconds": 1}, [(0, 11), (1, 12), (51, 12), (51, 151), (52, 152), (61, 161)]),
]


@pytest.mark.parametrize(("arguments", "events"), CASES)
def test_steps_and_times(run, tmp_path, arguments, events):
    shift(run, tmp_path / "out", **arguments)
    assert read(tmp_path / "out") == events
    assert read_run(tmp_path / "out").scalars["loss"].value.tolist() == [50.0, 51.0, 60.0]


def test_to_zero_is_for_each_run(tmp_path):
    for name, first in (("a", 100), ("b", 7)):
        with SummaryWriter(tmp_path / "runs" / name) as writer:
            writer.add_text("settings", "at step 0", 0)
            writer.add_scalar("loss", 1.0, first, new_style=True)
    shift(tmp_path / "runs", tmp_path / "out", to_zero=True)
    for name in "ab":
        assert read_run(tmp_path / "out" / name).scalars["loss"].step.tolist() == [0]
        assert read_run(tmp_path / "out" / name).texts["settings/text_summary"].step.tolist() == [0]


def test_a_step_that_was_negative_moves_too(tmp_path):
    value = Summary(value=[Summary.Value(tag="a", simple_value=1.0)])
    (tmp_path / "x.tfevents").write_bytes(frame(Event(step=-3, summary=value).SerializeToString()))
    shift(tmp_path / "x.tfevents", tmp_path / "out", steps=-1)
    assert [event.step for event in read_events(tmp_path / "out" / "x.tfevents", on_fault="skip")] == [-4]


MISTAKES = [
    ({"steps": -51}, "a step must stay at or above 0, got 50 moved by -51"),
    ({"steps": 2**63 - 60}, f"a step must stay below 2**63, got 60 moved by {2**63 - 60}"),
    ({}, "give steps, seconds or to_zero, got none of them"),
    ({"steps": 3, "to_zero": True}, "give either steps or to_zero, got steps=3 and to_zero=True"),
    ({"seconds": float("inf")}, "seconds must be finite, got inf"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_mistakes(run, tmp_path, arguments, message):
    with pytest.raises(ValueError, match=r"step|seconds") as caught:
        shift(run, tmp_path / "out", **arguments)
    assert str(caught.value) == message
    assert not (tmp_path / "out").exists()
