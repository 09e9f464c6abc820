"""Processes that die: what they were at is known, and nothing else is lost."""

import multiprocessing
import sys

import pytest
from doomed import Unborn, squared

from summaries.execution.processes import Died, in_processes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to be killed by")


@pytest.mark.parametrize("count", [12, 100])  # one at a time, and twelve
def test_every_item_has_its_outcome(count, capfd):
    listed = list(in_processes(squared, range(count), 2))
    assert sorted(number for number, _ in listed) == list(range(count))
    assert dict(listed) == {
        **{number: number**2 for number in range(count) if number not in {3, 5, 7}},
        3: Died("was killed by signal 9, as happens when the system runs out of memory"),
        5: Died("ended with status 1"),
        7: Died("ended with status 4"),
    }
    assert "ValueError: 5" in capfd.readouterr().err
    assert multiprocessing.active_children() == []


def test_one_process_and_no_items():
    assert list(in_processes(squared, [2, 1], 1)) == [(2, 4), (1, 1)]
    assert list(in_processes(squared, [], 2)) == []


def test_who_stops_early_leaves_no_process():
    outcomes = in_processes(squared, range(3), 2)
    next(outcomes)
    assert multiprocessing.active_children()
    outcomes.close()
    assert multiprocessing.active_children() == []


def test_no_process_can_be_started():
    with pytest.raises(ChildProcessError) as raised:
        list(in_processes(Unborn(), range(3), 2))
    assert str(raised.value) == "cannot start a process to audit in: the last one ended with status 5"
    assert multiprocessing.active_children() == []
