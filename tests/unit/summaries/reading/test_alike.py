"""Which records are taken in bulk, which go to the caller, and that making templates has its limits."""

import pytest

from summaries.reading import alike
from summaries.reading.alike import AlikeScalars
from summaries.wire import templates
from summaries.wire.batches import Batch, whole_records
from summaries.wire.layout import CLASS_OTHER, CLASS_SCALAR, CLASS_SKIPPED
from summaries.wire.pb import Event
from summaries.wire.records import frame
from summaries.wire.scalars import encode_scalar


class Caller:
    """Reads what it is handed, as the collector does, and keeps what became of each record."""

    def __init__(self):
        self.scalars = AlikeScalars()
        self.tags = set()
        self.handed = 0
        self.values = []

    def take(self, records):
        batch = whole_records(b"".join(records))
        assert len(batch) == len(records)
        for part in self.scalars.split(batch):
            if not isinstance(part, Batch):
                self.values += part["value"][part["tag"] >= 0].tolist()
                continue
            self.handed += len(part)
            for event in map(Event.FromString, part.data):
                for value in event.summary.value:
                    if value.tag not in self.tags:
                        self.tags.add(value.tag)
                        self.scalars.add_tag(value.tag)
                    self.values.append(value.simple_value)


def scalars(count, tags=1, first=0):
    return [encode_scalar(f"tag{i % tags:04d}", 200 + i // tags, 1.7e9, i) for i in range(first, first + count)]


VERSION = frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())


def test_what_repeats_is_taken_in_bulk_and_in_order():
    caller = Caller()
    caller.take(scalars(10_000, tags=10))
    assert caller.values == list(range(10_000))
    assert caller.handed == alike._FEW
    caller.take(scalars(200, tags=10))
    assert caller.handed == alike._FEW


def test_few_records_go_to_the_caller():
    caller = Caller()
    caller.take(scalars(alike._FEWEST - 1))
    caller.take(scalars(alike._FEWEST - 1))
    assert caller.handed == 2 * alike._FEWEST - 2


@pytest.mark.parametrize("between", [1, 5, 40])
def test_order_is_kept_where_other_records_are_between(between):
    caller = Caller()
    records = scalars(3000, tags=3)
    for at in range(0, len(records) + len(records) // between, between + 1):
        records.insert(at, VERSION)
    caller.take(records)
    caller.take(records)
    assert caller.values == [*range(3000)] * 2
    assert (caller.handed < 1000) is (between == 40)  # if they take turns more often, all are handed over


def test_more_tags_than_the_first_credit_are_learned_all_the_same():
    caller = Caller()
    caller.take(scalars(40_000, tags=400))
    assert caller.values == list(range(40_000))
    assert caller.handed < 15_000


def test_templates_that_are_never_used_again_are_not_made_for_long(monkeypatch):
    made = []
    monkeypatch.setattr(alike, "template_of", lambda data: made.append(data) or templates.template_of(data))
    caller = Caller()
    caller.take(scalars(5000, tags=5000))
    assert caller.handed == 5000
    assert len(made) < alike._FIRST_CREDIT + 5000 / 25


@pytest.mark.parametrize(
    ("tag_class", "values"), [(CLASS_SCALAR, 1000), (CLASS_OTHER, 1000), (CLASS_SKIPPED, alike._FEW)]
)
def test_a_tags_class(tag_class, values):
    caller = Caller()
    caller.tags.add("tag0000")
    caller.scalars.add_tag("tag0000")
    caller.scalars.set_class(0, tag_class)
    caller.take(scalars(1000))
    assert caller.handed == alike._FEW
    assert len(caller.values) == values
