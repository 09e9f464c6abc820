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
    """A workload's name, its calls, the directory in which it wrote, and that of its sources."""
    place = tmp_path_factory.mktemp("recorded")
    for name in ("root", "source"):
        (place / name).mkdir()
    (place / "script.py").write_text(WORKLOADS[request.param].script)
    command = [sys.executable, str(place / "script.py"), str(place / "root"), str(place / "source")]
    calls = record(command, place / "trace", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    (place / "trace").unlink()
    return request.param, calls, str(place / "root"), str(place / "source")


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
def test_a_loss_of_power_at_any_moment(recorded, model, tmp_path, record_property):
    name, calls, root, source = recorded
    directory = str(tmp_path / "found")
    number, broken, first = 0, 0, ""
    for confirmed, tree in states(calls, root, model):
        put(tree, directory)
        number += 1
        try:
            WORKLOADS[name].check(directory, source, confirmed)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is counted
            broken += 1
            first = first or f"{confirmed} confirmed, {sorted(tree)}: {type(error).__name__}: {error}"
    record_property("states", number)
    print(f"{name}, {model}: {number} states, {broken} broken")
    assert number >= FEWEST, "hardly anything was recorded"
    assert not broken, f"{broken} of {number} states: {first}"
