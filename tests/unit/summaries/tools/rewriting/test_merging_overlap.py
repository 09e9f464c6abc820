"""Overlap: what goes back in steps from one file to the next is told by one tag, and what is written once is not."""

import pytest

from summaries.tools import merge
from summaries.tools.rewriting.merging import Overlap
from summaries.wire.scalars import encode_scalar


def write(place, name, time, steps, tags=("loss",)):
    place.joinpath(name).mkdir()
    records = b"".join(encode_scalar(tag, step, time, step) for step in steps for tag in tags)
    place.joinpath(name, f"events.out.tfevents.{time}.host").write_bytes(records)
    return place / name


def overlap(place, *runs, **options):
    heard = []
    merge(runs, place / "out", on_overlap=heard.append, **options)
    return heard


def test_tags_that_are_written_again(tmp_path):
    runs = [
        write(tmp_path, "a", 10, range(100), ("loss", "lr", "norm")),
        write(tmp_path, "b", 20, range(90, 120), ("lr", "loss")),
    ]
    assert overlap(tmp_path, *runs) == [Overlap("lr", 99, 90, 2)]


def test_not_if_the_later_values_are_what_is_asked_for(tmp_path):
    runs = [write(tmp_path, "a", 10, range(100)), write(tmp_path, "b", 20, range(90, 120))]
    assert overlap(tmp_path, *runs, latest=True) == []


@pytest.mark.parametrize(
    ("first", "second", "tags"),
    [(range(100), range(100, 200), ("loss",)), (range(100), range(100), ("val/loss",)), ([0], [0], ("loss",))],
    ids=["it goes on", "other tags", "written once"],
)
def test_nothing_to_tell(tmp_path, first, second, tags):
    runs = [write(tmp_path, "a", 10, first), write(tmp_path, "b", 20, second, tags)]
    assert overlap(tmp_path, *runs) == []


def test_the_highest_step_of_all_files_before_counts_however_large_they_are(tmp_path):
    runs = [write(tmp_path, "a", 10, range(40_000)), write(tmp_path, "b", 20, [7]), write(tmp_path, "c", 30, [9])]
    assert overlap(tmp_path, *runs) == [Overlap("loss", 39_999, 7, 1)]
