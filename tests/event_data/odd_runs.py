"""Runs of every odd kind, by what is odd about them: each must go through every command that reads runs."""

import math
import os
from pathlib import Path

import numpy as np
from helpers import point

from summaries import Event, SessionLog, Summary, audio, histogram, hparams, tensor, text
from summaries.wire.pb import SummaryMetadata
from summaries.wire.records import frame

NAME = "events.out.tfevents.1700000000.host.1.0"
START = 1_700_000_000.0


def event(step=0, wall_time=None, **what):
    """The record of an event, a second later at each step."""
    return frame(
        Event(wall_time=START + step if wall_time is None else wall_time, step=step, **what).SerializeToString()
    )


def losses(values, tag="loss", first=0):
    """Records of a tag's scalars, one a step."""
    return b"".join(event(step, summary=point(tag, value)) for step, value in enumerate(values, first))


def double(tag, value):
    """A scalar with double precision."""
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    number = tensor(tag, np.float64(value)).value[0].tensor
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata, tensor=number)])


def with_raw_tag(tag):
    """An event with a scalar whose tag is not UTF-8."""
    value = b"\x0a" + bytes([len(tag)]) + tag + b"\x15\x00\x00\x80\x3f"
    summary = b"\x0a" + bytes([len(value)]) + value
    return frame(Event(wall_time=START).SerializeToString() + b"\x2a" + bytes([len(summary)]) + summary)


def not_what_it_says():
    """A value whose tensor is of numbers, and whose metadata says that it is text; and a histogram that is none."""
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="text"))
    numbers = tensor("numbers", np.zeros(3, np.float32)).value[0].tensor
    yield event(0, summary=Summary(value=[Summary.Value(tag="no text", metadata=metadata, tensor=numbers)]))
    histo = Summary.Value(tag="no histogram")
    histo.histo.bucket_limit.extend([1.0, 2.0])
    histo.histo.bucket.append(1.0)
    yield event(0, summary=Summary(value=[histo]))


VERSION = event(file_version="brain.Event:2")
WHOLE = VERSION + losses([3.0, 2.0, 1.0])
ODD_RUNS = {
    "empty": b"",
    "only a version": VERSION,
    "one point": VERSION + losses([1.0]),
    "no event file": b"These are notes, and no events.\n" * 9,
    "zeros": WHOLE + bytes(100) + losses([1.0], first=3),
    "damaged": WHOLE[:-6] + b"!" + WHOLE[-5:] + losses([1.0], first=4),
    "unfinished": WHOLE[:-7],
    "not UTF-8": VERSION + with_raw_tag(b"lo\xffss") + with_raw_tag(b"lo\xffss"),
    "control characters": VERSION + losses([1.0, 2.0], "a\nb\x1b[31mc\td"),
    "long names": VERSION + losses([1.0, 2.0], "x/" * 500),
    "wide names": VERSION + losses([1.0, 2.0], "損失 \N{FIRE}" * 9),
    "nothing finite": VERSION + losses([math.nan, math.inf, -math.inf]),
    "partly finite": VERSION + losses([1.0, math.nan, 2.0, math.inf, 3.0]),
    "huge values": VERSION + event(0, summary=double("loss", 1.7e308)) + event(1, summary=double("loss", -1.7e308)),
    "huge steps": VERSION + losses([1.0], first=2**62) + losses([1.0], first=0),
    "negative steps": VERSION + event(-5, summary=point("loss", 1.0)) + losses([2.0]),
    "odd times": VERSION
    + event(0, math.nan, summary=point("loss", 1.0))
    + event(1, math.inf, summary=point("loss", 2.0))
    + event(2, 1e300, summary=point("loss", 3.0)),
    "restarts": VERSION
    + losses([4.0, 3.0, 2.0, 1.0])
    + event(2, session_log=SessionLog(status=SessionLog.START))
    + losses([2.5, 1.5], first=2),
    "other kinds": VERSION
    + event(0, summary=text("notes", "first line\nsecond \x1b[31mline"))
    + event(0, summary=histogram("weights", np.arange(9.0)))
    + event(0, summary=tensor("grid", np.arange(12.0).reshape(3, 4)))
    + event(0, summary=audio("tone", np.zeros((1, 100, 1), np.float32), 8000))
    + event(0, graph_def=b"\x0a\x00"),
    "not what it says": VERSION + b"".join(not_what_it_says()),
    "both kinds": VERSION + losses([1.0], "mixed") + event(1, summary=tensor("mixed", np.zeros(3))),
    "hyperparameters": VERSION
    + event(0, summary=hparams({"lr": 0.1, "a\nb": "x\x1by"}, {"loss": 1.0}))
    + losses([1.0]),
    "no event": VERSION + frame(b"\xff\xff") + losses([1.0]),
}

ODD_NAMES = ("new\nline", "esc\x1b[31mape", "sp ace", "lr=0.1:b", "-dash", os.fsdecode(b"not UTF-8 \xff"))


def write_odd_runs(directory):
    """Write a run for each kind, and the same run under each odd name; returns their paths."""
    runs = {**ODD_RUNS, **dict.fromkeys(ODD_NAMES, WHOLE)}
    paths = [os.path.join(directory, name) for name in runs]
    for path, data in zip(paths, runs.values(), strict=True):
        os.makedirs(path)
        Path(path, NAME).write_bytes(data)
    unreadable = os.path.join(directory, "unreadable")
    os.makedirs(unreadable)
    os.symlink("nowhere", os.path.join(unreadable, NAME))
    return [*paths, unreadable]
