"""Scalars in every form that a writer may choose, well-formed or not, repeated and damaged: compiled equals plain."""

import struct

import numpy as np
import pytest
from engines import needs_compiled, read_run
from event_data.events import field
from event_data.random_runs import same, written
from hypothesis import given, settings
from hypothesis import strategies as st

from summaries import Event, SessionLog, Summary
from summaries.wire import pb
from summaries.wire.protobuf import varint
from summaries.wire.records import frame

pytestmark = needs_compiled
TAGS = ["", "a", "ab", "loss/1", "loss/2", "loss/12", "漢字", "x" * 90]
PLUGINS = [None, "scalars", "histograms", ""]


def padded(number, count=2):
    """A varint of that many more bytes than it needs."""
    data = bytearray(varint(number))
    data[-1] |= 0x80
    return bytes(data) + b"\x80" * (count - 1) + b"\x00"


def event(step, wall_time, value, *, encoded=varint):
    head = b"\x09" + struct.pack("<d", wall_time) + (b"\x10" + encoded(step) if step else b"")
    summary = field(1, value)
    return head + b"\x2a" + encoded(len(summary)) + summary


def described(plugin):
    if plugin is None:
        return b""
    metadata = pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name=plugin))
    return field(9, metadata.SerializeToString())


def simple(number):
    return b"\x15" + struct.pack("<f", number)


def tensor(dtype, values, dims=()):
    shape = field(2, b"".join(field(2, b"\x08" + varint(size)) for size in dims))
    return field(8, b"\x08" + varint(dtype) + shape + values)


NUMBERS = [
    simple,
    lambda x: tensor(pb.DT_FLOAT, field(4, struct.pack("<f", x))),
    lambda x: tensor(pb.DT_FLOAT, field(5, struct.pack("<f", x))),
    lambda x: tensor(pb.DT_FLOAT, b"\x2d" + struct.pack("<f", x), (1, 1)),
    lambda x: tensor(pb.DT_DOUBLE, field(4, struct.pack("<d", x))),
    lambda x: tensor(pb.DT_DOUBLE, field(6, struct.pack("<d", x)), (1,)),
    lambda x: tensor(pb.DT_DOUBLE, b"\x31" + struct.pack("<d", x)),
    lambda x: tensor(pb.DT_FLOAT, field(5, struct.pack("<ff", x, x)), (2,)),
    lambda x: tensor(pb.DT_FLOAT, field(4, struct.pack("<f", x)), (0,)),
    lambda x: tensor(pb.DT_FLOAT, field(4, struct.pack("<f", x)) + field(5, struct.pack("<f", 7))),
    lambda x: tensor(pb.DT_INT64, field(4, struct.pack("<q", int(x)))),
    lambda x: tensor(pb.DT_INT32, field(5, struct.pack("<f", x))),
    lambda x: simple(x) + simple(x + 1),
    lambda x: simple(x) + tensor(pb.DT_FLOAT, field(4, struct.pack("<f", x + 1))),
    lambda x: simple(x) + field(4, b"\x08\x01"),
    lambda x: simple(x) + field(7, b"node"),
    lambda x: simple(x) + field(14, b"unknown"),
]


def usual(tag, number, plugin):
    value = field(1, tag.encode())
    return lambda step, wall_time, x: event(step, wall_time, value + number(x) + described(plugin))


USUAL = st.builds(
    usual,
    st.sampled_from(TAGS),
    st.one_of(st.sampled_from(NUMBERS[:2]), st.sampled_from(NUMBERS)),
    st.sampled_from(PLUGINS),
)


def session_start(step, wall_time, _):
    log = SessionLog(status=SessionLog.START)
    return Event(step=step, wall_time=wall_time, session_log=log).SerializeToString()


def several(step, wall_time, x):
    values = [Summary.Value(tag=tag, simple_value=x) for tag in TAGS[:3]]
    return Event(step=step, wall_time=wall_time, summary=Summary(value=values)).SerializeToString()


LOSS = field(1, b"loss/1")
ODD = [
    session_start,
    several,
    lambda step, wall_time, x: event(step, wall_time, LOSS + simple(x), encoded=padded),
    lambda step, wall_time, x: event(-step, wall_time, LOSS + simple(x)),
    lambda step, _, x: event(step, float("nan"), LOSS + simple(x)),
    lambda step, wall_time, x: event(step, -wall_time, LOSS + simple(x)),
    lambda step, _, x: event(step, 0.0, LOSS + simple(x)),
    lambda step, _, x: event(step, float("inf"), LOSS + simple(x)),
    lambda step, wall_time, x: event(step, wall_time, LOSS + LOSS + simple(x)),
    lambda step, wall_time, x: event(step, wall_time, simple(x) + LOSS),
    lambda step, wall_time, x: event(step, wall_time, field(1, b"\xff\xfe") + simple(x)),
    lambda step, wall_time, x: event(step, wall_time, LOSS + simple(x) + field(9, field(2, b"\xff"))),
    lambda step, wall_time, x: event(step, wall_time, LOSS + simple(x)) + b"\x09" + struct.pack("<d", x),
    lambda step, wall_time, x: event(step, wall_time, LOSS + simple(x)) + field(20, b"unknown"),
    lambda step, _, x: field(5, field(1, LOSS + simple(x))) + b"\x10" + varint(step),
    lambda step, wall_time, x: event(0, wall_time, b"")[:9] + field(4, frame(event(step, wall_time, LOSS + simple(x)))),
    lambda *_: b"",
]


STEPS = [0, 1, 120, 16_370, 2**28 - 9, 2**56 - 9, 2**63 - 40]


def again(makers, step, count, seed=0):
    """The records that these make, one after the other, again and again with other numbers."""
    rng = np.random.default_rng(seed)
    return [maker(step + i, 1.7e9 + i, rng.normal()) for i in range(count) for maker in makers]


REPEATED = st.builds(
    again,
    st.lists(st.one_of(USUAL, USUAL, USUAL, st.sampled_from(ODD)), min_size=1, max_size=4),
    st.sampled_from(STEPS),
    st.integers(5, 30),
    st.integers(0, 9),
)


@st.composite
def files(draw):
    data = bytearray(b"".join(frame(one) for part in draw(st.lists(REPEATED, max_size=3)) for one in part))
    for _ in range(draw(st.integers(0, 2))):
        if data:
            data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(data[: len(data) - draw(st.sampled_from([0, 0, 5]))])


def equal(path, patterns=None):
    same(read_run(path, "compiled", tags=patterns), read_run(path, "plain", tags=patterns))


@settings(deadline=None)
@given(data=st.lists(files(), min_size=1, max_size=2), patterns=st.sampled_from([None, None, "loss*", ["a", ""]]))
def test_compiled_equals_plain(tmp_path_factory, data, patterns):
    equal(written(tmp_path_factory.mktemp("run"), data), patterns)


BEFORE = [usual("loss/1", NUMBERS[1], plugin) for plugin in PLUGINS]
FORMS = [usual("loss/1", number, plugin) for number in NUMBERS for plugin in PLUGINS] + ODD


@pytest.mark.parametrize("before", BEFORE, ids=map(str, PLUGINS))
def test_every_form_of_record_after_any_first_metadata(tmp_path, before):
    for number, form in enumerate(FORMS):
        path = tmp_path / f"{number}.tfevents"
        path.write_bytes(
            b"".join(map(frame, again([before], 1, 1) + again([form, BEFORE[0]], 126, 5) + again([form], 7, 40)))
        )
        equal(path)


@pytest.mark.parametrize("patterns", ["loss/1", "a", None])
def test_wanted_and_unwanted_tags_between_other_records(tmp_path, patterns):
    makers = [usual(tag, NUMBERS[0], None) for tag in ("loss/1", "loss/2") for _ in range(50)] + [several] * 20
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"".join(map(frame, again(makers, 130, 12))))
    equal(path, patterns)
