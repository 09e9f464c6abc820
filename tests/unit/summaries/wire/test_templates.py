"""Which records give a template, what it says, and which other records equal it."""

import numpy as np
import pytest

from summaries.wire.batches import Batch, whole_records
from summaries.wire.pb import DT_FLOAT, Event, Summary, SummaryMetadata, TensorProto
from summaries.wire.records import Record, frame
from summaries.wire.scalars import encode_scalar
from summaries.wire.templates import UNKNOWN, UNWANTED, Templates, template_of

METADATA = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))


def record(tag, step, value, wall_time=2.5):
    return encode_scalar(tag, step, wall_time, value)[12:-4]


def tensor(tag, step, value):
    one = Summary.Value(tag=tag, tensor=TensorProto(dtype=DT_FLOAT, float_val=[value]), metadata=METADATA)
    return Event(wall_time=2.5, step=step, summary=Summary(value=[one])).SerializeToString()


def batch_of(records):
    return whole_records(b"".join(map(frame, records)))


def test_what_a_template_says():
    simple, other = template_of(record("loss", 1, 0.5)), template_of(tensor("loss", 1, 0.5))
    assert (simple.tag, simple.has_metadata, simple.is_tensor) == (b"loss", False, False)
    assert (other.tag, other.has_metadata, other.is_tensor) == (b"loss", True, True)


@pytest.mark.parametrize("make", [record, tensor])
def test_records_differ_only_in_their_numbers(make):
    first = template_of(make("loss", 1, 0.5))
    assert template_of(make("loss", 127, -3.25)) == first
    assert template_of(make("loss", 128, 0.5)) != first  # its step takes two bytes
    assert template_of(make("lost", 1, 0.5)) != first


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        record("loss", -1, 0.5),
        record("loss", 1, 0.5) * 2,
        Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString(),
        Event(
            wall_time=1.0, summary=Summary(value=[Summary.Value(tag="a", image=Summary.Image(width=1))])
        ).SerializeToString(),
    ],
    ids=["empty", "no message", "step below zero", "every field twice", "version", "image"],
)
def test_no_template(data):
    assert template_of(data) is None


def test_rows_of_records_of_several_forms_in_their_order():
    records = [
        make(tag, step, step / 4)
        for step in range(1, 300)
        for make, tag in ((record, "loss"), (tensor, "b"), (record, "accu"))
    ]
    templates = Templates()
    assert not templates
    for number, (make, tag) in enumerate(((record, "loss"), (tensor, "b"))):
        for step in (1, 128):
            templates.add(template_of(make(tag, step, 0.0)), number)
    assert templates
    templates.add(template_of(record("accu", 1, 0.0)), UNWANTED)
    rows = templates.rows(batch_of(records))
    assert rows["tag"].tolist() == [0, 1, UNWANTED] * 127 + [0, 1, UNKNOWN] * 172
    known = rows["tag"] >= 0
    np.testing.assert_array_equal(rows["step"][known], np.repeat(np.arange(1, 300), 2))
    np.testing.assert_array_equal(rows["value"][known], np.repeat(np.arange(1, 300) / 4, 2))
    assert set(rows["wall_time"][known]) == {2.5}
    assert templates.knows(records[0])
    assert not templates.knows(records[-1])


@pytest.mark.parametrize("wall_time", [float("nan"), float("inf"), float("-inf")])
def test_a_wall_time_that_is_a_fault_is_not_taken(wall_time):
    records = [record("loss", step, 0.5) for step in range(1, 60)]
    records[7] = record("loss", 8, 0.5, wall_time)
    templates = Templates()
    templates.add(template_of(records[0]), 0)
    assert np.flatnonzero(templates.rows(batch_of(records))["tag"] == UNKNOWN).tolist() == [7]


def test_records_that_the_plain_parser_found():
    records = [record("loss", step, step / 4) for step in range(1, 60)]
    templates = Templates()
    templates.add(template_of(records[0]), 3)
    found = templates.rows(Batch.of(0, [Record(60 * i, data) for i, data in enumerate(records)]))
    assert found.tolist() == [(step, 2.5, step / 4, 3) for step in range(1, 60)]
