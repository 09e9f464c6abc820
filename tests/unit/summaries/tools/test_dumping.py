"""dump: every event with its place, and every fault where it is."""

import base64
import json

import numpy as np
import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE, event, losses

from summaries import Event, FaultKind, Summary
from summaries.errors import Fault
from summaries.tools import dump
from summaries.tools.dumping import event_as_dict, fault_as_dict
from summaries.wire.pb import LogMessage, TaggedRunMetadata
from summaries.wire.records import FOOTER_BYTES, HEADER_BYTES


def dumped(tmp_path, data, **options):
    (tmp_path / NAME).write_bytes(data)
    return list(dump(tmp_path / NAME, **options))


@pytest.mark.parametrize("name", ODD_RUNS)
def test_places_cover_the_file(name, tmp_path):
    """Events and faults of data lie one behind the other, from the first byte to the last."""
    data = ODD_RUNS[name]
    places = [
        (found.offset, found.length)
        for found in dumped(tmp_path, data)
        if not isinstance(found, Fault) or found.kind not in (FaultKind.UNDECODABLE_TEXT, *NOTES)
    ]
    ends = [0, *(offset + length for offset, length in places)]
    assert [offset for offset, _ in places] == ends[:-1]
    assert ends[-1] == len(data)


NOTES = (FaultKind.EMPTY_FILE, FaultKind.NEGATIVE_STEP, FaultKind.NON_FINITE_WALL_TIME)


def test_an_event_is_what_lies_at_its_place(tmp_path):
    for found in dumped(tmp_path, WHOLE):
        record = WHOLE[found.offset : found.offset + found.length]
        assert Event.FromString(record[HEADER_BYTES:-FOOTER_BYTES]) == found.event


def test_faults_are_in_their_place(tmp_path):
    found = dumped(tmp_path, ODD_RUNS["damaged"])
    assert [getattr(one, "kind", "event") for one in found] == ["event"] * 3 + [FaultKind.DAMAGED_PAYLOAD, "event"]
    assert fault_as_dict(found[3]) | {"got": "", "want": ""} == {
        "fault": "damaged payload",
        "file": str(tmp_path / NAME),
        "offset": 122,
        "length": 42,
        "record": 3,
        "reason": "data checksum mismatch",
        "got": "",
        "want": "",
    }


def test_tags_choose_values_and_leave_faults(tmp_path):
    data = ODD_RUNS["damaged"] + losses([5.0], "other") + event(summary=Summary())
    found = dumped(tmp_path, data, tags="other")
    assert [isinstance(one, Fault) for one in found] == [True, False]
    assert [value.tag for value in found[1].values] == ["other"]


def test_a_directory_is_all_of_its_files(tmp_path):
    (tmp_path / "b.tfevents").write_bytes(WHOLE)
    (tmp_path / "a.tfevents").write_bytes(WHOLE)
    assert [found.path for found in dump(tmp_path)] == [str(tmp_path / "a.tfevents")] * 4 + [
        str(tmp_path / "b.tfevents")
    ] * 4


def test_events_as_plain_values(tmp_path):
    other_kinds = dumped(tmp_path, ODD_RUNS["other kinds"])
    found = [event_as_dict(one) for one in other_kinds]
    assert found[0] == {
        "file": str(tmp_path / NAME),
        "offset": 0,
        "length": 40,
        "wall_time": 1_700_000_000.0,
        "step": 0,
        "file_version": "brain.Event:2",
    }
    assert [value["kind"] for one in found for value in one.get("summary", [])] == [
        "text",
        "histogram",
        "tensor",
        "audio",
    ]
    assert found[5]["graph_def"] == {"bytes": 2}
    assert event_as_dict(other_kinds[5], full=True)["graph_def"] == {
        "bytes": 2,
        "base64": base64.b64encode(b"\x0a\x00").decode(),
    }


def test_arrays_are_shortened_unless_all_is_wanted(tmp_path):
    grid = dumped(tmp_path, ODD_RUNS["other kinds"], tags="grid")[0]
    [short] = event_as_dict(grid)["summary"]
    assert short == {
        "tag": "grid",
        "kind": "tensor",
        "dtype": "float64",
        "shape": [3, 4],
        "value": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
        "left_out": 6,
    }
    [full] = event_as_dict(grid, full=True)["summary"]
    assert full["value"] == np.arange(12.0).reshape(3, 4).tolist()


def test_what_other_events_carry(tmp_path):
    data = (
        ODD_RUNS["restarts"]
        + event(log_message=LogMessage(level=LogMessage.WARN, message="low"))
        + event(tagged_run_metadata=TaggedRunMetadata(tag="step", run_metadata=b"\x00" * 3))
    )
    found = [event_as_dict(one) for one in dumped(tmp_path, data)]
    assert [one["session_log"]["status"] for one in found if "session_log" in one] == ["START"]
    assert found[-2]["log_message"] == {"level": LogMessage.WARN, "message": "low"}
    assert found[-1]["tagged_run_metadata"] == {"tag": "step", "bytes": 3}


@pytest.mark.parametrize("name", ODD_RUNS)
@pytest.mark.parametrize("full", [False, True])
def test_all_of_it_is_json(name, full, tmp_path):
    for found in dumped(tmp_path, ODD_RUNS[name]):
        plain = fault_as_dict(found) if isinstance(found, Fault) else event_as_dict(found, full=full)
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
