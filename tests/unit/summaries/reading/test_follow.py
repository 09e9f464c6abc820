"""Following: a growing file, a replaced one, a run's next file, and the end of it."""

import os
import queue
import threading

import pytest

from summaries import Event, SummaryWriter, read_events
from summaries.storage.local import LOCAL
from summaries.wire.records import frame


def events(*steps):
    return b"".join(frame(Event(step=step, wall_time=1.0).SerializeToString()) for step in steps)


class Pauses(threading.Event):
    """Ends a follower in its last pause. Pauses take no time: in each before that, the next of some actions is done."""

    def __init__(self, *actions):
        super().__init__()
        self._actions = list(actions)

    def wait(self, timeout=None):
        if self._actions:
            self._actions.pop(0)()
        else:
            self.set()
        return self.is_set()


def steps_of(path, *actions, **options):
    """The steps of all events, the actions being done in the pauses between looks at the path."""
    return [event.step for event in read_events(path, follow=True, stop=Pauses(*actions), **options)]


def append(path, data):
    with open(path, "ab") as file:
        file.write(data)


def test_a_growing_file(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1) + events(2)[:20])
    assert steps_of(path, lambda: append(path, events(2)[20:] + events(3))) == [1, 2, 3]


def test_each_event_comes_soon_after_its_flush(tmp_path):
    """Before anything else is logged."""
    stop, seen = threading.Event(), queue.SimpleQueue()
    with SummaryWriter(tmp_path) as writer:

        def follow():
            for event in read_events(writer.path, follow=True, stop=stop):
                seen.put(event.step)

        thread = threading.Thread(target=follow)
        thread.start()
        assert seen.get(timeout=60) == 0  # the file's version
        for step in range(1, 4):
            writer.add_scalar("loss", 1.0, step)
            writer.flush()
            assert seen.get(timeout=60) == step
        stop.set()
        thread.join(60)
    assert not thread.is_alive()
    assert LOCAL.poll_secs < 0.5


def test_a_file_replaced_by_a_longer_one_goes_on(tmp_path):
    """rsync writes a new file and renames it over the old one."""
    path, new = tmp_path / "a.tfevents", tmp_path / "new"
    path.write_bytes(events(1, 2))
    new.write_bytes(events(1, 2, 3))
    assert steps_of(path, lambda: os.replace(new, path)) == [1, 2, 3]


def test_a_file_replaced_by_another_starts_over(tmp_path):
    path, new = tmp_path / "a.tfevents", tmp_path / "new"
    path.write_bytes(events(1, 2) + b"???")
    new.write_bytes(events(7))
    faults = []
    assert steps_of(path, lambda: os.replace(new, path), on_fault=faults.append) == [1, 2, 7]
    assert [fault.offset for fault in faults] == [len(events(1, 2))]


def test_a_file_that_vanishes_may_come_back(tmp_path):
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1))
    assert steps_of(path, path.unlink, lambda: path.write_bytes(events(1, 2))) == [1, 2]


def test_a_runs_next_file(tmp_path):
    (tmp_path / "1.tfevents").write_bytes(events(1))
    assert steps_of(tmp_path, lambda: (tmp_path / "2.tfevents").write_bytes(events(2))) == [1, 2]


@pytest.mark.parametrize("how", ["stop", "timeout"])
def test_the_end(tmp_path, how):
    options = {"stop": Pauses()} if how == "stop" else {"timeout_secs": 0.3}
    path = tmp_path / "a.tfevents"
    path.write_bytes(events(1, 2) + b"unfinished")
    assert [event.step for event in read_events(path, follow=True, **options)] == [1, 2]


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
