"""Repairing: files that other writers made, whole and with damage in them."""

from pathlib import Path

import pytest
from helpers import ROOT

from summaries import read_events, read_run, verify
from summaries.tools import drop, keep, merge, repair

GOLDEN = sorted(path for path in (ROOT / "tests/golden/events").rglob("*tfevents*"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_files_of_every_writer_stay_as_they_are(tmp_path, path):
    for number, tool in enumerate((repair, keep, lambda run, out: merge([run], out))):
        out = tmp_path / str(number)
        tool(path, out)
        assert (out / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_dropping_a_tag_leaves_the_others_byte_for_byte(tmp_path, path):
    before = read_run(path)
    if len(before.tags) < 2:
        pytest.skip("it has one tag")
    gone = before.tags[0]
    drop(path, tmp_path / "out", tags=gone)
    assert read_run(tmp_path / "out").tags == before.tags[1:]
    left = [event.SerializeToString() for event in read_events(path) if gone not in tags_of(event)]
    assert [event.SerializeToString() for event in read_events(tmp_path / "out" / path.name)] == left or any(
        len(event.summary.value) > 1 for event in read_events(path)
    )


def tags_of(event):
    return {value.tag for value in event.summary.value}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_damaged_byte_costs_one_record(tmp_path, path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    hurt = tmp_path / path.name
    hurt.write_bytes(data)
    mended = repair(hurt, tmp_path / "out")
    assert mended.damaged
    assert mended.events == verify(path).events - 1
    assert not [fault for fault in verify(tmp_path / "out" / path.name).faults if fault.kind.is_data_loss]
    before, after = path.read_bytes(), Path(tmp_path / "out" / path.name).read_bytes()
    assert len(before) - len(after) == mended.lost_bytes
    (lost,) = [fault for fault in mended.faults if fault.kind.is_data_loss]
    assert after == before[: lost.offset] + before[lost.offset + lost.length :]
