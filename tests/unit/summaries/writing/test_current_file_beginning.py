"""How a file begins: bytes that are written without protobuf, as protobuf writes them."""

import pytest
from helpers import event_files

from summaries import Event
from summaries.wire.pb import SessionLog, SourceMetadata
from summaries.wire.records import frame
from summaries.writing.current_file import Destination


@pytest.mark.parametrize("now", [0.0, 1700000000.25])
@pytest.mark.parametrize("purge_step", [None, 0, 7])
def test_a_file_begins_with_the_version(now, purge_step, tmp_path):
    Destination(str(tmp_path)).begin_file(now, purge_step)
    source = SourceMetadata(writer="gradledger")
    wanted = frame(Event(wall_time=now, file_version="brain.Event:2", source_metadata=source).SerializeToString())
    if purge_step is not None:
        session = SessionLog(status=SessionLog.START)
        wanted += 2 * frame(Event(wall_time=now, step=purge_step, session_log=session).SerializeToString())
    (path,) = event_files(tmp_path)
    assert path.read_bytes() == wanted
