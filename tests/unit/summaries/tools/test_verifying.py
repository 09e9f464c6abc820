"""verify: what is whole in an event file, and what is not."""

import pytest

from summaries import Event, FaultKind
from summaries.tools import verify
from summaries.wire.records import frame

GOOD = frame(Event(step=1).SerializeToString())
FILES = {
    "empty": (b"", 0, [FaultKind.EMPTY_FILE], False),
    "whole": (GOOD * 3, 3, [], False),
    "unfinished": (GOOD + GOOD[:-1], 1, [FaultKind.UNFINISHED_TAIL], False),
    "damaged": (GOOD + GOOD[:-1] + b"!" + GOOD, 2, [FaultKind.DAMAGED_PAYLOAD], True),
    "undecodable": (GOOD + frame(b"\xff"), 1, [FaultKind.UNDECODABLE], True),
    "zero-filled": (GOOD + bytes(50), 1, [FaultKind.ZERO_FILLED], True),
    "much": (
        b"!" + GOOD + bytes(50) + GOOD[:-1],
        1,
        [FaultKind.DAMAGED_LENGTH, FaultKind.ZERO_FILLED, FaultKind.UNFINISHED_TAIL],
        True,
    ),
}


@pytest.mark.parametrize(("data", "events", "kinds", "damaged"), FILES.values(), ids=FILES)
def test_verify(tmp_path, data, events, kinds, damaged):
    path = tmp_path / "a.tfevents"
    path.write_bytes(data)
    verdict = verify(path)
    assert (verdict.path, verdict.events, verdict.damaged) == (str(path), events, damaged)
    assert [fault.kind for fault in verdict.faults] == kinds


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        verify(tmp_path / "nowhere")
