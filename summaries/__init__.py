"""Write and read TensorBoard's event files, without TensorFlow.

    numbers → build.* → Summary → Event → wire.records.frame → bytes → writer → file
    file → reader → wire.records → Event

`summary_writer` is the face of the writing side, `reader` of the reading side; `wire` holds the bytes of both and
touches neither files nor clocks.
"""

from summaries.build import scalar
from summaries.errors import (
    DamagedLengthError,
    DamagedPayloadError,
    Fault,
    FaultKind,
    FormatError,
    UndecodableError,
    UnfinishedTailError,
    UnfinishedTailWarning,
    ZeroFilledError,
)
from summaries.reader import read_events, summary_iterator
from summaries.summary_writer import SummaryWriter
from summaries.wire.pb import Event, GraphDef, RunMetadata, SessionLog, Summary
from summaries.writer import EventFileWriter, NonFiniteWarning

__all__ = [
    "DamagedLengthError",
    "DamagedPayloadError",
    "Event",
    "EventFileWriter",
    "Fault",
    "FaultKind",
    "FormatError",
    "GraphDef",
    "NonFiniteWarning",
    "RunMetadata",
    "SessionLog",
    "Summary",
    "SummaryWriter",
    "UndecodableError",
    "UnfinishedTailError",
    "UnfinishedTailWarning",
    "ZeroFilledError",
    "read_events",
    "scalar",
    "summary_iterator",
]
