"""One event file → its events and its faults, in order."""

import pickle
import warnings

import pytest
from google.protobuf.message import DecodeError

from summaries import (
    DamagedLengthError,
    DamagedPayloadError,
    Event,
    FaultKind,
    FormatError,
    NoEventFileError,
    UndecodableError,
    UndecodableTextError,
    UnfinishedTailWarning,
    ZeroFilledError,
    read_events,
    summary_iterator,
)
from summaries.errors import Fault, raise_fault
from summaries.wire.records import frame


def event(step):
    return Event(wall_time=1.5, step=step)


def record(step):
    return frame(event(step).SerializeToString())


SIZE = len(record(1))
DAMAGED_DATA = record(2)[:-1] + b"!"
DAMAGED_LENGTH = b"!" + record(2)[1:]
NO_EVENT_DATA = b"\xff"
NO_EVENT = frame(NO_EVENT_DATA)


@pytest.fixture
def file(tmp_path):
    """Writes an event file; where it is."""

    def write(*pieces):
        path = tmp_path / "events.out.tfevents.1"
        path.write_bytes(b"".join(pieces))
        return str(path)

    return write


def steps(path, on_fault="raise"):
    return [event.step for event in read_events(path, on_fault=on_fault)]


@pytest.mark.parametrize("count", [0, 1, 3, 50_000])
def test_every_event(file, count):
    """Some files are read in several chunks."""
    path = file(*map(record, range(1, count + 1)))
    assert list(summary_iterator(path)) == [event(step) for step in range(1, count + 1)]


def test_a_path_of_any_kind(file, tmp_path):
    path = file(record(1))
    assert list(summary_iterator(tmp_path / "events.out.tfevents.1")) == list(summary_iterator(path)) == [event(1)]


@pytest.mark.parametrize("read", [summary_iterator, read_events])
def test_no_such_file(tmp_path, read):
    path = str(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError) as raised:
        list(read(path))
    assert str(raised.value) == f"[Errno 2] No such file or directory: {path!r}"


def refusal(data):
    """What protobuf says of data that is no Event; another version may say it in other words."""
    try:
        Event.FromString(data)
    except DecodeError as error:
        return str(error)
    raise AssertionError


# (what is between two whole records, the error, its kind, what it says in front of the place)
FAULTS = {
    "damaged data": (
        DAMAGED_DATA,
        DamagedPayloadError,
        FaultKind.DAMAGED_PAYLOAD,
        "data checksum mismatch: got 0x21f63120, want 0xf4f63120",
    ),
    "damaged length": (
        DAMAGED_LENGTH,
        DamagedLengthError,
        FaultKind.DAMAGED_LENGTH,
        "length checksum mismatch: got 0x04f51586, want 0xf6ec7b01",
    ),
    "zeros": (
        bytes(100),
        ZeroFilledError,
        FaultKind.ZERO_FILLED,
        "zero bytes: got 100 of them, want a record",
    ),
    "no event": (
        NO_EVENT,
        UndecodableError,
        FaultKind.UNDECODABLE,
        f"data is not an Event: got {refusal(NO_EVENT_DATA)}, want a serialized Event",
    ),
}
each_fault = pytest.mark.parametrize(("damage", "error", "kind", "text"), FAULTS.values(), ids=FAULTS)


@each_fault
def test_damage_is_raised_behind_the_events_before_it(file, damage, error, kind, text):
    path = file(record(1), damage, record(3))
    events = summary_iterator(path)
    assert next(events) == event(1)
    with pytest.raises(error) as raised:
        next(events)
    assert str(raised.value) == f"{text} - at {path}, record 1, offset {SIZE} ({len(damage)} bytes)"
    assert raised.value.fault.kind is kind
    assert isinstance(raised.value, FormatError)
    assert isinstance(raised.value, ValueError)


@each_fault
def test_damage_is_skipped(file, damage, error, kind, text):
    assert steps(file(record(1), damage, record(3)), "skip") == [1, 3]


@each_fault
def test_damage_is_told(file, damage, error, kind, text):
    path = file(record(1), damage, record(3))
    faults = []
    assert steps(path, faults.append) == [1, 3]
    (fault,) = faults
    assert (fault.kind, fault.path, fault.offset, fault.length, fault.record) == (kind, path, SIZE, len(damage), 1)
    assert f"{fault.reason}: got {fault.got}, want {fault.want}" == text


def test_a_function_may_raise(file):
    path = file(record(1), DAMAGED_DATA, record(3))
    with pytest.raises(DamagedPayloadError):
        steps(path, raise_fault)


def test_every_fault_is_told_in_its_place(file):
    """A fault's `record` counts the records before it, and no faults."""
    path = file(NO_EVENT, record(1), DAMAGED_DATA, NO_EVENT, bytes(100), record(3), record(4)[:-1])
    faults = []
    assert steps(path, faults.append) == [1, 3]
    offsets = [0, len(NO_EVENT) + SIZE]
    offsets += [offsets[-1] + SIZE, offsets[-1] + SIZE + len(NO_EVENT)]
    offsets += [offsets[-1] + 100 + SIZE]
    assert [(fault.kind, fault.offset) for fault in faults] == [
        (FaultKind.UNDECODABLE, offsets[0]),
        (FaultKind.DAMAGED_PAYLOAD, offsets[1]),
        (FaultKind.UNDECODABLE, offsets[2]),
        (FaultKind.ZERO_FILLED, offsets[3]),
        (FaultKind.UNFINISHED_TAIL, offsets[4]),
    ]
    assert [fault.record for fault in faults] == [0, 2, 2, 3, 4]


def tail(path, cut):
    want = 12 if cut < 12 else SIZE
    got = "1 byte" if cut == 1 else f"{cut} bytes"
    return f"the bytes end inside a record: got {got}, want {want} bytes - at {path}, record 1, offset {SIZE} ({got})"


@pytest.mark.parametrize("cut", range(1, SIZE))
@pytest.mark.parametrize("read", [summary_iterator, read_events])
def test_an_unfinished_tail_is_warned_of(file, cut, read):
    path = file(record(1), record(2)[:cut])
    with pytest.warns(UnfinishedTailWarning) as caught:
        assert list(read(path)) == [event(1)]
    assert [str(warning.message) for warning in caught] == [tail(path, cut)]


@pytest.mark.parametrize("read", [summary_iterator, read_events])
def test_the_warning_points_at_who_reads(file, read):
    with pytest.warns(UnfinishedTailWarning) as caught:
        list(read(file(record(1)[:-1])))
    assert [warning.filename for warning in caught] == [__file__]


def test_an_unfinished_tail_is_told_or_skipped(file):
    path = file(record(1), record(2)[:-1])
    faults = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert steps(path, "skip") == steps(path, faults.append) == [1]
    assert [str(fault) for fault in faults] == [tail(path, SIZE - 1)]


@pytest.mark.parametrize("on_fault", ["ignore", None, 1], ids=repr)
def test_on_fault_is_checked_at_once(file, on_fault):
    with pytest.raises(ValueError, match="on_fault") as raised:
        read_events(file(), on_fault=on_fault)
    assert str(raised.value) == f'on_fault must be "raise", "skip" or a function, got {on_fault!r}'


ERRORS = {
    FaultKind.DAMAGED_LENGTH: DamagedLengthError,
    FaultKind.DAMAGED_PAYLOAD: DamagedPayloadError,
    FaultKind.ZERO_FILLED: ZeroFilledError,
    FaultKind.UNDECODABLE: UndecodableError,
    FaultKind.NO_EVENT_FILE: NoEventFileError,
    FaultKind.UNDECODABLE_TEXT: UndecodableTextError,
}


@pytest.mark.parametrize("kind", FaultKind)
def test_each_kind_of_damage_has_its_error(kind):
    """What readers never raise has none; a caller who raises it gets the base class."""
    fault = Fault(kind, "reason", 1, 2, "this", "that", 3, "file")
    with pytest.raises(FormatError) as raised:
        raise_fault(fault)
    assert type(raised.value) is ERRORS.get(kind, FormatError)
    assert raised.value.fault == fault
    assert str(raised.value) == "reason: got this, want that - at file, record 3, offset 1 (2 bytes)"


def test_a_fault_without_a_file():
    fault = Fault(FaultKind.DAMAGED_LENGTH, "reason", 1, 1, "this", "that")
    assert str(fault) == "reason: got this, want that - at record 0, offset 1 (1 byte)"
    assert str(fault.located("a/b")) == "reason: got this, want that - at a/b, record 0, offset 1 (1 byte)"


def test_errors_can_be_pickled():
    """Between the processes of multiprocessing, say."""
    error = DamagedLengthError(Fault(FaultKind.DAMAGED_LENGTH, "reason", 1, 1, "this", "that"))
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert (type(copy), copy.fault, str(copy)) == (type(error), error.fault, str(error))
