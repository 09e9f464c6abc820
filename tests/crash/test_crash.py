"""After a loss of power at any moment, what was promised is there: see `states` for what a disk may be like."""

import os
import shutil
import sys

import pytest
from crash.recorded import record, strace
from crash.states import MODELS, states
from crash.workloads import WORKLOADS

FEWEST = 20  # states of a workload in a model
pytestmark = pytest.mark.skipif(strace() is None, reason="needs strace, and the right to trace")


@pytest.fixture(scope="module", params=WORKLOADS)
def recorded(request, tmp_path_factory):
    """A workload's name, its calls, the directory in which it wrote, and a check of what may be found there."""
    place = tmp_path_factory.mktemp("recorded")
    for name in ("root", "source"):
        (place / name).mkdir()
    (place / "script.py").write_text(WORKLOADS[request.param].script)
    command = [sys.executable, str(place / "script.py"), str(place / "root"), str(place / "source")]
    calls = record(command, place / "trace", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    (place / "trace").unlink()
    check = Check(WORKLOADS[request.param], str(place / "source"), str(place / "found"))
    return request.param, calls, str(place / "root"), check


class Check:
    """What a workload says of a state, asked once: models have most of them in common, and moments as well.

    Args:
        workload: the workload.
        source: the directory of its sources.
        found: where a state is put.
    """

    def __init__(self, workload, source, found):
        self.workload, self._source, self._found = workload, source, found
        self._known = {}

    def __call__(self, tree):
        """How many calls may have returned; an error if it is wrong whatever had returned."""
        key = frozenset(tree.items())
        if key not in self._known:
            put(tree, self._found)
            try:
                self._known[key] = self.workload.check(self._found, self._source)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
                self._known[key] = error
        return self._known[key]


def put(tree, directory):
    """Make a directory what a tree says."""
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    for path, data in tree.items():  # a directory is before what is in it
        if data is None:
            os.mkdir(directory + path)
        else:
            with open(directory + path, "wb") as file:
                file.write(data)


@pytest.mark.parametrize("model", MODELS)
def test_a_loss_of_power_at_any_moment(recorded, model, monkeypatch, record_property):
    monkeypatch.setattr("os.fsync", lambda _fd: None)  # of what checks: the power stays
    name, calls, root, check = recorded
    number, broken, first = 0, 0, ""
    for confirmed, tree in states(calls, root, model):
        number += 1
        found = check(tree)
        if isinstance(found, Exception) or found < confirmed:
            broken += 1
            first = first or f"{confirmed} confirmed, {sorted(tree)}: {told(found)}"
    record_property("states", number)
    print(f"{name}, {model}: {number} states, {broken} broken")
    assert number >= FEWEST, "hardly anything was recorded"
    assert not broken, f"{broken} of {number} states: {first}"


def told(found):
    """What a check found, in words."""
    if isinstance(found, Exception):
        return f"{type(found).__name__}: {found}"
    return f"what is there is what {found} had made"
