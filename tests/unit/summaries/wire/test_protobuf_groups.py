"""Groups, which no Event has, and which protobuf passes over: the fuzzer found that we did not."""

import numpy as np
import pytest
from engines import ENGINES, read_run

from summaries import Event, Summary
from summaries.wire.records import frame

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

GROUPS = {
    "empty": b"\x7b\x7c",
    "with a number": b"\x7b\x08\x96\x01\x7c",
    "with a string": b"\x7b\x12\x03abc\x7c",
    "with fixed widths": b"\x7b\x09" + bytes(8) + b"\x15" + bytes(4) + b"\x7c",
    "in a group": b"\x7b\x83\x01\x08\x01\x84\x01\x7c",
}


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
@pytest.mark.parametrize("behind", [False, True])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_event_with_a_group_is_read(tmp_path, group, behind, engine):
    value = Summary.Value(tag="h", histo={"min": 1.0, "bucket_limit": [1.0], "bucket": [2.0]})
    event = Event(wall_time=1.0, step=3, summary=Summary(value=[value])).SerializeToString()
    data = event + group if behind else group + event
    Event.FromString(data)
    (tmp_path / "a.tfevents").write_bytes(frame(data))
    run = read_run(tmp_path, engine=engine)
    assert not run.faults
    assert np.asarray(run.histograms["h"].step).tolist() == [3]
    assert run.histograms["h"][0] is not None
