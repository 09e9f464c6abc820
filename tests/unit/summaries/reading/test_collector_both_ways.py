"""The compiled scanner and the plain reader report the same faults, wherever in a row of usual scalars one stands."""

import numpy as np
import pytest
from engines import ENGINES, needs_compiled, read_run

from summaries import Event, FaultKind, SessionLog, Summary
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

ROW = range(6)


def scalar(step, wall_time=1.0):
    value = Summary.Value(tag="loss", simple_value=0.5)
    return frame(Event(step=step, wall_time=wall_time, summary=Summary(value=[value])).SerializeToString())


def read(path, *, engine):
    """The (kind, record, offset, got) of each fault, and the steps."""
    run = read_run(path, engine=engine)
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


@needs_compiled
@pytest.mark.parametrize("at", [0, 1, len(ROW) - 1])
@pytest.mark.parametrize(("odd", "kind"), ODD.values(), ids=ODD)
def test_a_fault_in_a_row_of_usual_scalars(tmp_path, odd, kind, at):
    """The first record of a tag takes another way than those that follow."""
    records = [scalar(step) for step in ROW]
    records[at] = odd
    path = tmp_path / "events.tfevents"
    path.write_bytes(b"".join(records))
    faults, steps = read(path, engine="plain")
    assert [(fault[0], fault[1]) for fault in faults] == [(kind, at)]
    assert faults[0][2] == len(b"".join(records[:at]))
    assert len(steps) == len(ROW)
    assert read(path, engine="compiled") == (faults, steps)


@pytest.mark.parametrize("engine", ENGINES)
def test_thousands_of_tags_whose_points_are_split_in_larger_batches(tmp_path, engine):
    """Each tag gets its points in order, and a mark in the midst of a batch divides them."""
    tags, count = 2_000, 100_000
    numbers = np.random.default_rng(0).integers(tags, size=count)
    encoder = ScalarEncoder()
    for number in range(tags):
        encoder.register(f"metric_{number}")
    data, offsets = encoder.encode(numbers, np.arange(count), 2.0 + np.arange(count), numbers.astype(float))
    cut = offsets[30_000]
    start = Event(step=count, wall_time=1.0, session_log=SessionLog(status=SessionLog.START))
    (tmp_path / "events.tfevents").write_bytes(b"".join((data[:cut], frame(start.SerializeToString()), data[cut:])))
    run = read_run(tmp_path, engine=engine)
    assert run.faults == ()
    assert len(run.scalars) == tags
    for number in range(tags):
        (steps,) = (numbers == number).nonzero()
        series = run.scalars[f"metric_{number}"]
        np.testing.assert_array_equal(series.step, steps)
        np.testing.assert_array_equal(series.wall_time, 2.0 + steps)
        assert (series.value == number).all()
        assert series.restarts == [(np.count_nonzero(steps < 30_000), count)]
