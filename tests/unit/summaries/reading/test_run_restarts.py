"""What of a run stands where a session start comes among its values: in the middle of a file, and in another file."""

import pytest
from engines import ENGINES, read_run

from summaries import Event, SessionLog, Standing, Summary
from summaries.wire.records import frame

VALUES = {
    "histogram": Summary.Value(tag="x", histo={"min": 0.0, "max": 1.0, "bucket_limit": [1.0], "bucket": [1.0]}),
    "scalar": Summary.Value(tag="x", simple_value=0.5),
}
STANDS, RESTARTED = Standing.STANDS, Standing.SESSION_RESTARTED


def record(value, step):
    return frame(Event(step=step, wall_time=1.0, summary=Summary(value=[value])).SerializeToString())


def start(step):
    log = SessionLog(status=SessionLog.START)
    return frame(Event(step=step, wall_time=1.0, session_log=log).SerializeToString())


# (the files, in each of which a number is a value at that step and "n" a session start at step n; what stands)
LAYOUTS = {
    "start at the end of a file": ([[5, "5"]], [RESTARTED]),
    "start at the beginning of a file": ([["5", 5]], [STANDS]),
    "between two values": ([[5, "5", 6]], [RESTARTED, STANDS]),
    "above the values before it": ([[5, "6", 6]], [STANDS, STANDS]),
    "a file of nothing but a start": ([[5], ["5"], [6]], [RESTARTED, STANDS]),
    "first in the second file": ([[5], ["5", 6]], [RESTARTED, STANDS]),
    "second in the second file": ([[4], [5, "5"], [6]], [STANDS, RESTARTED, STANDS]),
    "a later place in an earlier file": ([[1, 2, 3, 4], ["3", 5]], [STANDS, STANDS, RESTARTED, RESTARTED, STANDS]),
    "an earlier place in a later file": ([[1, 2, 3, "3"], [3, 4]], [STANDS, STANDS, RESTARTED, STANDS, STANDS]),
    "two starts": ([[1, 2, "2", 2, 3, "3", 3]], [STANDS, RESTARTED, STANDS, RESTARTED, STANDS]),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize(("files", "standing"), LAYOUTS.values(), ids=LAYOUTS)
def test_what_stands(tmp_path, value, files, standing, engine):
    for number, content in enumerate(files):
        data = b"".join(start(int(item)) if isinstance(item, str) else record(value, item) for item in content)
        (tmp_path / f"{number}.tfevents").write_bytes(data)
    run = read_run(tmp_path, engine=engine)
    series = (run.histograms if value.HasField("histo") else run.scalars)["x"]
    steps = [item for content in files for item in content if not isinstance(item, str)]
    assert series.step.tolist() == steps
    assert series.standing.tolist() == standing
    assert series.latest().step.tolist() == [step for step, code in zip(steps, standing, strict=True) if code == STANDS]
