"""EventFileWriter: what is logged, in order, is what the file holds."""

import copy
import itertools
import math
import os
import pickle

import numpy as np
import pytest
from helpers import point, scalars
from tensorboard.compat.proto.event_pb2 import Event as TheirEvent
from tensorboard.compat.proto.summary_pb2 import Summary as TheirSummary

from summaries import (
    Event,
    EventFileWriter,
    GraphDef,
    NonFiniteWarning,
    SessionLog,
    Summary,
    SummaryWriter,
    summary_iterator,
)

NEVER = math.inf


def logged(writer):
    writer.flush()
    return scalars(writer.path)


def test_the_first_event(logdir):
    with EventFileWriter(str(logdir), clock=lambda: 1795202364.5) as writer:
        pass
    (event,) = summary_iterator(writer.path)
    assert event == Event(
        wall_time=1795202364.5, file_version="brain.Event:2", source_metadata={"writer": "gradledger"}
    )
    assert os.path.dirname(writer.path) == str(logdir) == writer.get_logdir()
    assert os.path.basename(writer.path).startswith("events.out.tfevents.1795202364.")


def test_filename_suffix(logdir):
    with EventFileWriter(logdir, filename_suffix=".mine") as writer:
        assert writer.path.endswith(".mine")


def test_summary_writer_is_one(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("loss", 0.5, 3)
    assert isinstance(writer, EventFileWriter)
    assert scalars(writer.path) == [(3, "loss", 0.5)]


VALUES = [
    (0.5, 0.5),
    (3, 3.0),
    (True, 1.0),
    (0.1, float(np.float32(0.1))),
    (1e-50, 0.0),
    (-0.0, -0.0),
    (2**100, float(np.float32(2.0**100))),
    (np.array(2.5), 2.5),
    (np.array([[2.5]]), 2.5),
    *((np.dtype(code).type(1), 1.0) for code in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=lambda value: type(value).__name__)
def test_values(writer, value, expected):
    for _ in range(2):  # a new tag goes another way than a known one
        writer.add_scalar("loss", value, 1)
    assert logged(writer) == [(1, "loss", expected)] * 2
    assert math.copysign(1, logged(writer)[0][2]) == math.copysign(1, expected)


STEPS = [
    (None, 0),
    (0, 0),
    (-1, -1),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    (7.0, 7),
    (True, 1),
    (np.int8(-3), -3),
    (np.uint64(2**62), 2**62),
    (np.float32(3), 3),
    (np.array(7), 7),
    (np.array([7]), 7),
]


@pytest.mark.parametrize(("step", "expected"), STEPS, ids=repr)
def test_steps(writer, step, expected):
    for _ in range(2):
        writer.add_scalar("loss", 0.5, step)
    writer.add_summary(point("loss", 0.5), step)
    assert logged(writer) == [(expected, "loss", 0.5)] * 3


@pytest.mark.parametrize("walltime", [1.5e9, 0.0, -1.0, np.float32(2.0), 7, np.array(7.0)], ids=repr)
def test_walltimes(writer, walltime):
    for _ in range(2):
        writer.add_scalar("loss", 0.5, 1, walltime)
    writer.add_summary(point("loss", 0.5), 1, walltime)
    writer.flush()
    assert [event.wall_time for event in summary_iterator(writer.path)][1:] == [float(walltime)] * 3


def test_the_clock_gives_the_walltime(logdir):
    ticks = itertools.count(100)
    with EventFileWriter(logdir, clock=lambda: float(next(ticks))) as writer:
        writer.add_scalar("loss", 0.5)
        writer.add_scalar("loss", 0.5)
        writer.add_summary(point("loss", 0.5))
    assert [event.wall_time for event in summary_iterator(writer.path)] == [100.0, 101.0, 102.0, 103.0]


REFUSED = [
    (5, 0.5, 1, None, TypeError, "tag must be a string, got int: 5"),
    (["loss"], 0.5, 1, None, TypeError, "tag must be a string, got list: ['loss']"),
    ("loss", None, 1, None, TypeError, "scalar_value must be a number, got NoneType: None"),
    ("loss", "high", 1, None, TypeError, "scalar_value must be a number, got 'high'"),
    ("loss", [1, 2], 1, None, TypeError, "scalar_value must be a number, got list: [1, 2]"),
    ("loss", np.zeros(2), 1, None, ValueError, "scalar_value must be one number, got an array of shape (2,)"),
    ("loss", 0.5, 2**63, None, ValueError, "global_step must fit in a signed 64-bit integer, got 9223372036854775808"),
    ("loss", 0.5, math.nan, None, TypeError, "global_step must be an integer or None, got float: nan"),
    ("loss", 0.5, "1.5", None, TypeError, "global_step must be an integer or None, got str: '1.5'"),
    ("loss", 0.5, 1, "now", TypeError, "walltime must be a number, got 'now'"),
]


@pytest.mark.parametrize(("tag", "value", "step", "walltime", "error", "text"), REFUSED)
@pytest.mark.parametrize("known", [False, True], ids=["a new tag", "a known tag"])
def test_refused(writer, tag, value, step, walltime, error, text, known):
    """Nothing of a call that is refused gets into the file."""
    before = [(0, "loss", 1.0)] * known
    if known:
        writer.add_scalar("loss", 1.0)
    with pytest.raises(error) as raised:
        writer.add_scalar(tag, value, step, walltime)
    assert str(raised.value) == text
    assert logged(writer) == before


ODD = [
    ("loss", 0.5, 2.7, (2, "loss", 0.5)),
    ("loss", 0.5, "3", (3, "loss", 0.5)),
    ("loss", "0.5", 1, (1, "loss", 0.5)),
    ("loss", [0.5], 1, (1, "loss", 0.5)),
    ("", 0.5, 1, (1, "", 0.5)),
    (None, 0.5, 1, (1, "", 0.5)),
    (b"loss", 0.5, 1, (1, "loss", 0.5)),
]


@pytest.mark.parametrize(("tag", "value", "step", "stored"), ODD)
@pytest.mark.parametrize("known", [False, True], ids=["a new tag", "a known tag"])
def test_what_other_writers_convert(writer, tag, value, step, stored, known):
    """torch or tensorboardX log each of these, and a warning must not cost the event either."""
    if known:
        writer.add_scalar("loss", 1.0)
    with pytest.warns(UserWarning, match=r"^(global_step|scalar_value|tag) should ") as caught:
        writer.add_scalar(tag, value, step)
    assert caught[0].filename == __file__
    assert logged(writer) == [(0, "loss", 1.0)] * known + [stored]


NON_FINITE = [
    (math.nan, 1, "nan", 1, math.nan),
    (math.inf, 2, "inf", 2, math.inf),
    (-math.inf, None, "-inf", 0, -math.inf),
    (np.float32("nan"), 3, "nan", 3, math.nan),
    (1e39, 4, "1e+39", 4, math.inf),
    (-1e300, 5, "-1e+300", 5, -math.inf),
]


@pytest.mark.parametrize(("value", "step", "what", "told", "stored"), NON_FINITE)
@pytest.mark.parametrize("known", [False, True], ids=["a new tag", "a known tag"])
def test_what_float32_cannot_hold_is_warned_of_once_a_tag(writer, value, step, what, told, stored, known):
    if known:
        writer.add_scalar("loss", 1.0)
    with pytest.warns(NonFiniteWarning) as caught:
        writer.add_scalar("loss", value, step)
    writer.add_scalar("loss", value, step)  # a second warning would be an error
    (warning,) = caught
    text = f"tag 'loss' got {what} at step {told}: written as {stored}; warned once per tag"
    assert str(warning.message) == text
    assert warning.filename == __file__
    values = [value for _, _, value in logged(writer)][known:]
    np.testing.assert_array_equal(values, [stored, stored])


def test_every_tag_is_warned_of(writer):
    for tag in ["a", "b"]:
        with pytest.warns(NonFiniteWarning, match=f"^tag '{tag}' got nan at step 1: "):
            writer.add_scalar(tag, math.nan, 1)
    writer.add_scalar("a", math.nan, 1)


def test_order_of_scalars_and_summaries(writer):
    expected = []
    for i in range(3000):
        tag = f"tag {i % 7}"
        if i % 5:
            writer.add_scalar(tag, i, i)
        else:
            writer.add_summary(point(tag, i), i)
        expected.append((i, tag, float(i)))
    assert logged(writer) == expected


@pytest.mark.parametrize("max_queue", [1, 2, 10, 100_000])
def test_order_whatever_the_queue(logdir, max_queue):
    with EventFileWriter(logdir, max_queue, NEVER) as writer:
        for i in range(100):
            writer.add_scalar("loss", i, i)
            if i % 10 == 0:
                writer.add_summary(point("summary", i), i)
    expected = [(i, tag, float(i)) for i in range(100) for tag in ["loss", *["summary"] * (i % 10 == 0)]]
    assert scalars(writer.path) == expected


OURS = Summary(value=[Summary.Value(tag="a", simple_value=1.0), Summary.Value(tag="b", simple_value=2.0)])
THEIRS = TheirSummary.FromString(OURS.SerializeToString())


@pytest.mark.parametrize("summary", [OURS, THEIRS, OURS.SerializeToString()], ids=["ours", "theirs", "bytes"])
def test_add_summary(writer, summary):
    writer.add_summary(summary, 7)
    assert logged(writer) == [(7, "a", 1.0), (7, "b", 2.0)]


@pytest.mark.parametrize("kind", ["ours", "theirs", "bytes"])
def test_add_event(writer, kind):
    event = Event(wall_time=1.5, step=-3, session_log=SessionLog(status=SessionLog.START))
    data = event.SerializeToString()
    writer.add_scalar("loss", 0.5, 1)
    writer.add_event({"ours": event, "theirs": TheirEvent.FromString(data), "bytes": data}[kind])
    writer.add_scalar("loss", 0.5, 2)
    writer.flush()
    events = list(summary_iterator(writer.path))
    assert events[2] == event
    assert [event.step for event in events] == [0, 1, -3, 2]


def test_add_event_with_a_step_and_a_time(writer):
    """As torch's file_writer takes them; an event without a time gets the current one there."""
    writer.add_event(Event(step=1, wall_time=2.5), step=7, walltime=8.5)
    writer.add_event(Event(step=1, wall_time=2.5).SerializeToString(), np.int64(7))
    writer.add_event(Event(step=1))
    writer.flush()
    first, second, third = list(summary_iterator(writer.path))[1:]
    assert [(event.step, event.wall_time) for event in (first, second)] == [(7, 8.5), (7, 2.5)]
    assert third.step == 1
    assert third.wall_time > 1.7e9


@pytest.mark.parametrize("what", ["text", 5, None, {"value": []}], ids=repr)
def test_no_message(writer, what):
    kind = type(what).__name__
    with pytest.raises(TypeError, match=rf"^summary must be a protobuf message or its bytes, got {kind}$"):
        writer.add_summary(what)
    with pytest.raises(TypeError, match=rf"^event must be a protobuf message or its bytes, got {kind}$"):
        writer.add_event(what)
    assert logged(writer) == []


CORRUPT = "Error parsing message with type 'gradledger.{}': Wire format was corrupt"


@pytest.mark.parametrize("kind", ["summary", "event"])
def test_bytes_that_are_no_message(writer, kind):
    add, name = getattr(writer, f"add_{kind}"), kind.capitalize()
    with pytest.raises(ValueError, match="that do not parse") as caught:
        add(b"abc")
    assert str(caught.value) == (
        f"{kind} must be a message of type {name}, got 3 bytes that do not parse as one: {CORRUPT.format(name)}"
    )
    with pytest.raises(TypeError, match=f"^{kind} must be a message of type {name}, got one of type GraphDef$"):
        add(GraphDef())
    assert logged(writer) == []


BOUNDS = [
    ({"max_pending_bytes": -1}, "max_pending_bytes must be positive, got -1"),
    ({"flush_secs": math.nan}, "flush_secs must be a number of seconds, got nan"),
    ({"filename_suffix": "a/b"}, "filename_suffix must be a part of a file's name, without separators, got 'a/b'"),
]


@pytest.mark.parametrize(("bound", "text"), BOUNDS)
def test_bounds_must_be_positive(logdir, bound, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        EventFileWriter(logdir, **bound)
    assert not logdir.exists()


WRONG = [
    ({"max_queue": "many"}, "max_queue must be an integer or None, got str: 'many'"),
    ({"max_pending_bytes": 2.5}, "max_pending_bytes must be an integer, got float: 2.5"),
    ({"flush_secs": "often"}, "flush_secs must be a number, got 'often'"),
    ({"filename_suffix": None}, "filename_suffix must be a string, got NoneType: None"),
]


@pytest.mark.parametrize(("option", "text"), WRONG)
def test_options_of_another_type(logdir, option, text):
    with pytest.raises(TypeError, match=f"^{text}$"):
        EventFileWriter(logdir, **option)
    assert not logdir.exists()


@pytest.mark.parametrize("leave", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_writer_stays_in_its_process(writer, leave):
    with pytest.raises(TypeError, match=r"^an open writer cannot be copied or sent to another process: make another "):
        leave(writer)


def test_a_directory_in_bytes(logdir):
    with EventFileWriter(os.fsencode(logdir)) as writer:
        assert writer.get_logdir() == str(logdir)
