"""Following: a growing file, a replaced one, a run's next file, and the end of it."""

import os
import threading
import time

import pytest

from summaries import Event, SummaryWriter, read_events
from summaries.wire.records import frame


def events(*steps):
    return b"".join(frame(Event(step=step, wall_time=1.0).SerializeToString()) for step in steps)


def steps_of(path, **options):
    return [event.step for event in read_events(path, follow=True, timeout_secs=0.6, **options)]


def later(action, secs=0.3):
    timer = threading.Timer(secs, action)
    timer.start()
    return timer


def append(path, data):
    with open(path, "ab") as file:
        file.write(data)


def test_a_growing_file(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1) + events(2)[:20])
    timer = later(lambda: append(path, events(2)[20:] + events(3)))
    assert steps_of(path) == [1, 2, 3]
    timer.join()


def test_each_event_within_a_second_of_its_flush(tmp_path):
    stop, seen = threading.Event(), {}
    with SummaryWriter(tmp_path) as writer:

        def follow():
            for event in read_events(writer.path, follow=True, stop=stop):
                seen[event.step] = time.monotonic()

        thread = threading.Thread(target=follow)
        thread.start()
        flushed = {}
        for step in range(1, 4):
            writer.add_scalar("loss", 1.0, step)
            writer.flush()
            flushed[step] = time.monotonic()
            time.sleep(0.4)
        time.sleep(0.7)
        stop.set()
        thread.join(5)
    assert not thread.is_alive()
    assert all(seen[step] - flushed[step] < 1 for step in flushed)


def test_a_file_replaced_by_a_longer_one_goes_on(tmp_path):
    """rsync writes a new file and renames it over the old one."""
    path, new = tmp_path / "a.tfevents", tmp_path / "new"
    path.write_bytes(events(1, 2))
    new.write_bytes(events(1, 2, 3))
    timer = later(lambda: os.replace(new, path))
    assert steps_of(path) == [1, 2, 3]
    timer.join()


def test_a_file_replaced_by_another_starts_over(tmp_path):
    path, new = tmp_path / "a.tfevents", tmp_path / "new"
    path.write_bytes(events(1, 2) + b"???")
    new.write_bytes(events(7))
    timer = later(lambda: os.replace(new, path))
    faults = []
    assert steps_of(path, on_fault=faults.append) == [1, 2, 7]
    assert [fault.offset for fault in faults] == [len(events(1, 2))]
    timer.join()


@pytest.mark.only_on_disks(reason="the file comes back so soon that a slow listing never misses it")
def test_a_file_that_vanishes_may_come_back(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1))
    timers = [later(path.unlink, 0.2), later(lambda: path.write_bytes(events(1, 2)), 0.6)]
    assert steps_of(path) == [1, 2]
    for timer in timers:
        timer.join()


def test_a_runs_next_file(tmp_path):
    (tmp_path / "1.tfevents").write_bytes(events(1))
    timer = later(lambda: (tmp_path / "2.tfevents").write_bytes(events(2)))
    assert steps_of(tmp_path) == [1, 2]
    timer.join()


def test_stop(tmp_path):
    stop = threading.Event()
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1, 2) + b"unfinished")
    timer = later(stop.set)
    begun = time.monotonic()
    assert [event.step for event in read_events(path, follow=True, stop=stop)] == [1, 2]
    assert time.monotonic() - begun < 2
    timer.join()


def test_closing_the_iterator_stops_it(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1, 2))
    iterator = read_events(path, follow=True)
    assert next(iterator).step == 1
    iterator.close()
    assert list(iterator) == []


def test_no_such_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_events(tmp_path / "missing", follow=True)
