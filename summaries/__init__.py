"""Write and read TensorBoard's event files, without TensorFlow.

    numbers → build.* → Summary → Event → wire.records.frame → bytes → writer → file
    file → reader → wire.records → Event

`summary_writer` is the face of the writing side, `reader` of the reading side; `wire` holds the bytes of both and
touches neither files nor clocks.
"""

from summaries.build import (
    audio,
    custom_scalars,
    figure,
    histogram,
    histogram_raw,
    hparams,
    image,
    image_with_boxes,
    images,
    merge,
    mesh,
    pr_curve,
    pr_curve_raw,
    scalar,
    tensor,
    text,
    video,
    zero_fraction,
)
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
from summaries.graph import read_graph, write_graph
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
    "audio",
    "custom_scalars",
    "figure",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_with_boxes",
    "images",
    "merge",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "read_events",
    "read_graph",
    "scalar",
    "summary_iterator",
    "tensor",
    "text",
    "video",
    "write_graph",
    "zero_fraction",
]
