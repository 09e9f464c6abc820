"""Merging: several runs become one, in the order in which they began."""

import os

import pytest

from summaries import Event, SummaryWriter, read_run
from summaries.tools import merge
from summaries.wire.records import frame
from summaries.wire.scalars import encode_scalar


def run(place, name, first_time, steps, tag="loss"):
    """A run with one file, whose first event has this time."""
    (place / name).mkdir(parents=True, exist_ok=True)
    version = frame(Event(wall_time=first_time, file_version="brain.Event:2").SerializeToString())
    records = b"".join(encode_scalar(tag, step, first_time + step, step) for step in steps)
    path = place / name / f"events.out.tfevents.{int(first_time):010d}.host"
    path.write_bytes(version + records)
    return path


def test_without_latest_every_byte_is_there_in_order_of_time(tmp_path):
    later = run(tmp_path, "a", 2000.0, range(5, 9))
    earlier = run(tmp_path, "b", 1000.0, range(7))
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    assert path.name == "events.out.tfevents.0000001000.host"
    assert path.read_bytes() == earlier.read_bytes() + later.read_bytes()
    assert (merged.path, merged.runs, merged.events, merged.dropped, merged.faults) == (
        str(tmp_path / "out"), (".",), 13, 0, (),
    )  # fmt: skip


def test_files_of_one_run_stay_in_reading_order_whatever_their_times(tmp_path):
    """Clocks are set back: the order in which a reader has the files counts."""
    late = run(tmp_path, "a", 3000.0, [1])
    (tmp_path / "a" / "events.out.tfevents.0000003001.host").write_bytes(encode_scalar("loss", 2, 5.0, 2.0))
    between = run(tmp_path, "b", 2000.0, [0])
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    assert path.read_bytes() == between.read_bytes() + late.read_bytes() + encode_scalar("loss", 2, 5.0, 2.0)


def test_latest_drops_what_was_written_again(tmp_path):
    run(tmp_path, "a", 1000.0, range(8))
    run(tmp_path, "b", 2000.0, range(5, 12))
    assert merge([tmp_path / "b", tmp_path / "a"], tmp_path / "out", latest=True).dropped == 3
    series = read_run(tmp_path / "out").scalars["loss"]
    assert series.step.tolist() == list(range(12))
    assert series.wall_time.tolist() == [1000.0 + i for i in range(5)] + [2000.0 + i for i in range(5, 12)]


def test_values_of_every_kind_survive(tmp_path):
    with SummaryWriter(tmp_path / "a") as writer:
        writer.add_scalar("loss", 1.0, 0)
        writer.add_histogram("weights", [1.0, 2.0], 0)
        writer.add_text("note", "words", 0)
        writer.add_hparams({"lr": 0.1}, {"loss": 1.0}, run_name=".")
    with SummaryWriter(tmp_path / "b") as writer:
        writer.add_scalar("loss", 2.0, 1)
        writer.add_histogram("weights", [1.0, 2.0], 1)
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out", latest=True)
    merged = read_run(tmp_path / "out")
    assert merged.scalars["loss"].value.tolist() == [1.0, 2.0]
    assert len(merged.histograms["weights"]) == 2
    assert list(merged.texts["note/text_summary"]) == ["words"]
    assert merged.hparams == {"lr": 0.1}


def test_a_run_in_itself(tmp_path):
    path = run(tmp_path, "a", 1000.0, range(3))
    assert merge([path], tmp_path / "out").events == 4


def test_no_such_run(tmp_path):
    with pytest.raises(FileNotFoundError):
        merge([tmp_path / "nowhere"], tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_nothing_to_write(tmp_path):
    (tmp_path / "a.tfevents").write_bytes(b"")
    with pytest.raises(ValueError, match="there is no event to write") as caught:
        merge([tmp_path / "a.tfevents"], tmp_path / "out")
    assert str(caught.value) == (
        f"there is no event to write to {tmp_path / 'out'}: the file is empty: got 0 bytes, want records"
        f" - at {tmp_path / 'a.tfevents'}, record 0, offset 0 (0 bytes)"
    )
    assert os.listdir(tmp_path) == ["a.tfevents"]


def test_a_run_that_is_given_twice(tmp_path):
    """All of its values would be there twice."""
    path = run(tmp_path, "a", 1000.0, range(3))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for again in (tmp_path / "a", tmp_path / "link", path):
        with pytest.raises(ValueError, match="each run must be given once") as caught:
            merge([tmp_path / "a", again], tmp_path / "out")
        other = again if again == path else again / path.name
        assert caught.value.args == (f"each run must be given once, got {path} and again {other}",)
    assert not (tmp_path / "out").exists()


def test_output_inside_of_a_run(tmp_path):
    run(tmp_path, "a", 1000.0, range(3))
    with pytest.raises(ValueError, match="outside") as caught:
        merge([tmp_path / "a"], tmp_path / "a" / "whole")
    assert caught.value.args == (
        f"the output must be outside of {tmp_path}/a, which it is made from, got {tmp_path}/a/whole",
    )
    assert len(list((tmp_path / "a").iterdir())) == 1
