"""The compiled scanner and the plain reader report the same faults, wherever in a row of usual scalars one stands."""

from importlib.util import find_spec

import pytest

from summaries import Event, FaultKind, Summary, read_run
from summaries.wire.records import frame

ROW = range(6)


def scalar(step, wall_time=1.0):
    value = Summary.Value(tag="loss", simple_value=0.5)
    return frame(Event(step=step, wall_time=wall_time, summary=Summary(value=[value])).SerializeToString())


def read(path, *, fast):
    """The (kind, record, offset, got) of each fault, and the steps."""
    run = read_run(path, fast=fast)
    return [(fault.kind, fault.record, fault.offset, fault.got) for fault in run.faults], run.scalars[
        "loss"
    ].step.tolist()


ODD = {
    "step -1": (scalar(-1), FaultKind.NEGATIVE_STEP),
    "the lowest step": (scalar(-(2**63)), FaultKind.NEGATIVE_STEP),
    "wall time NaN": (scalar(1, float("nan")), FaultKind.NON_FINITE_WALL_TIME),
    "wall time inf": (scalar(1, float("inf")), FaultKind.NON_FINITE_WALL_TIME),
    "step -1 and wall time 0": (scalar(-1, 0.0), FaultKind.NEGATIVE_STEP),
}


@pytest.mark.skipif(find_spec("numba") is None, reason="numba is an extra")
@pytest.mark.parametrize("at", [0, 1, len(ROW) - 1])
@pytest.mark.parametrize(("odd", "kind"), ODD.values(), ids=ODD)
def test_a_fault_in_a_row_of_usual_scalars(tmp_path, odd, kind, at):
    """The first record of a tag takes another way than those that follow."""
    records = [scalar(step) for step in ROW]
    records[at] = odd
    path = tmp_path / "events.tfevents"
    path.write_bytes(b"".join(records))
    faults, steps = read(path, fast=False)
    assert [(fault[0], fault[1]) for fault in faults] == [(kind, at)]
    assert faults[0][2] == len(b"".join(records[:at]))
    assert len(steps) == len(ROW)
    assert read(path, fast=True) == (faults, steps)
