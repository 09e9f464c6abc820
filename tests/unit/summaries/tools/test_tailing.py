"""tail: the last points, and new ones as they come."""

import os
import threading

import numpy as np
import pytest
from event_data.odd_runs import NAME, ODD_RUNS, WHOLE, event, losses, write_odd_runs
from helpers import polls

from summaries import FaultKind, SummaryWriter
from summaries.reading.series import Series
from summaries.tools import tail
from summaries.tools.tailing import Tailed, steps_a_second


def steps(points):
    return [(point.tag, point.step, point.value) for point in points]


def test_the_last_points_of_all_tags_oldest_first(tmp_path):
    (tmp_path / NAME).write_bytes(WHOLE + losses([7.0], "accuracy", first=1))
    assert steps(tail(tmp_path, count=3)) == [("loss", 1, 2.0), ("accuracy", 1, 7.0), ("loss", 2, 1.0)]


def test_other_kinds_have_no_value(tmp_path):
    (tmp_path / NAME).write_bytes(ODD_RUNS["other kinds"])
    assert {point.kind: point.value for point in tail(tmp_path)} == dict.fromkeys(
        ("histograms", "audio", "texts", "tensors")
    )


def test_texts_are_read_when_they_are_asked_for(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_text("notes", "first\nline", 0)
        writer.add_text("notes", "second", 1)
        writer.add_histogram("weights", [1.0, 2.0], 2)
        writer.add_scalar("loss", 0.5, 3)
    points = list(tail(tmp_path))
    assert [(point.tag, point.text) for point in points[:2]] == [
        ("notes/text_summary", "first\nline"),
        ("notes/text_summary", "second"),
    ]
    assert [point.text for point in points[2:]] == [None, None]


def test_points_without_a_time_come_first(tmp_path):
    (tmp_path / NAME).write_bytes(ODD_RUNS["odd times"])
    assert [point.step for point in tail(tmp_path)] == [0, 2, 1]


def test_runs_and_tags_are_chosen(tmp_path):
    write_odd_runs(tmp_path)
    found = list(tail(tmp_path, runs=["restarts", "one point"], tags="l*", count=100))
    assert {point.run for point in found} == {str(tmp_path / "restarts"), str(tmp_path / "one point")}
    assert not list(tail(tmp_path, tags="nothing"))


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
def test_trouble_is_told_once(tmp_path):
    *_, unreadable = write_odd_runs(tmp_path)
    told = []
    tailed = Tailed([tmp_path], on_trouble=told.append)
    tailed.look()
    tailed.look()
    faults = [trouble.kind for trouble in told if not isinstance(trouble, OSError)]
    assert faults.count(FaultKind.ZERO_FILLED) == 1
    assert [error.filename for error in told if isinstance(error, OSError)] == [os.path.join(unreadable, NAME)]


def test_what_is_new(tmp_path):
    path = tmp_path / "a" / NAME
    path.parent.mkdir()
    path.write_bytes(WHOLE)
    tailed = Tailed([tmp_path], follow=True)
    assert len(tailed.look(2)) == 2
    assert tailed.look() == []
    with path.open("ab") as file:
        file.write(losses([0.5], first=3))
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / NAME).write_bytes(losses([9.0], first=7))
    assert steps(tailed.look()) == [("loss", 3, 0.5), ("loss", 7, 9.0)]


def test_a_record_that_has_only_begun_is_no_fault(tmp_path):
    data = losses([0.5], first=3)
    (tmp_path / NAME).write_bytes(WHOLE + data[:20])
    told = []
    tailed = Tailed([tmp_path], follow=True, on_trouble=told.append)
    assert len(tailed.look()) == 3
    (tmp_path / NAME).write_bytes(WHOLE + data)
    assert steps(tailed.look()) == [("loss", 3, 0.5)]
    assert told == []


@pytest.mark.only_on_disks(reason="a link")
@pytest.mark.parametrize("follow", [False, True])
def test_a_link_to_nowhere_is_told_once_and_the_files_beside_it_are_read(tmp_path, follow):
    (tmp_path / NAME).write_bytes(WHOLE)
    (tmp_path / f"{NAME}.link").symlink_to("nowhere")
    told = []
    tailed = Tailed([tmp_path], follow=follow, on_trouble=told.append)
    assert len(tailed.look()) == 3
    with (tmp_path / NAME).open("ab") as file:
        file.write(losses([0.5], first=3))
    assert steps(tailed.look()) == [("loss", 3, 0.5)]
    assert [error.filename for error in told] == [str(tmp_path / f"{NAME}.link")]


def test_a_run_that_was_replaced_begins_again(tmp_path):
    (tmp_path / NAME).write_bytes(WHOLE)
    tailed = Tailed([tmp_path], follow=True)
    tailed.look()
    (tmp_path / NAME).write_bytes(event(file_version="brain.Event:2") + losses([5.0]))
    assert steps(tailed.look()) == [("loss", 0, 5.0)]


@pytest.mark.only_on_disks(reason="a store has no directories without files")
def test_following_waits_for_a_place_without_files(tmp_path):
    tailed = Tailed([tmp_path], follow=True)
    assert tailed.look() == []
    with SummaryWriter(tmp_path / "run") as writer:
        writer.add_scalar("loss", 1.0, 0)
    assert steps(tailed.look()) == [("loss", 0, 1.0)]


def test_follow_until_stopped(tmp_path):
    (tmp_path / NAME).write_bytes(WHOLE)
    stop, found = threading.Event(), []
    thread = threading.Thread(target=lambda: found.extend(tail(tmp_path, count=1, follow=True, stop=stop)))
    thread.start()
    for _ in polls():
        if found:
            break
    with (tmp_path / NAME).open("ab") as file:
        file.write(losses([0.5], first=3))
    for _ in polls():
        if len(found) > 1:
            break
    stop.set()
    thread.join()
    assert steps(found) == [("loss", 2, 1.0), ("loss", 3, 0.5)]


def test_follow_until_it_is_quiet(tmp_path):
    (tmp_path / NAME).write_bytes(WHOLE)
    assert len(list(tail(tmp_path, follow=True, timeout_secs=0.01))) == 3


def test_no_such_place(tmp_path):
    for follow in (False, True):
        with pytest.raises(FileNotFoundError, match=r"^no such file or directory: .*nowhere$"):
            list(tail(tmp_path / "nowhere", follow=follow))


@pytest.mark.only_on_disks(reason="a store has no directories without files")
def test_no_event_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no event file"):
        list(tail(tmp_path))


def test_a_count_below_zero(tmp_path):
    with pytest.raises(ValueError, match=r"^count must be at least 0, got -1$"):
        list(tail(tmp_path, count=-1))


@pytest.mark.parametrize(
    ("steps", "times", "rate"),
    [([0, 10, 20], [5, 6, 7], 10), ([0, 10], [5, 5], None), ([10, 0], [5, 6], None), ([0, 1], [5, float("inf")], None)],
)
def test_how_fast_steps_rise(steps, times, rate):
    found = steps_a_second(Series("a", np.array(steps), np.array(times, float), np.zeros(len(steps))))
    assert found == rate or (rate is None and np.isnan(found))


def test_the_rate_is_that_of_the_last_points():
    times = np.concatenate([np.arange(1000.0), 999 + np.arange(1, 101) / 2])
    assert steps_a_second(Series("a", np.arange(1100), times, np.zeros(1100))) == pytest.approx(2)
