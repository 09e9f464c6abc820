"""Write and read TensorBoard's event files, without TensorFlow.

    numbers → build.* → Summary → Event → wire.records.frame → bytes → writer → file
    file → reader → wire.records → Event
    files → collect → wire.scan (compiled) or wire.batches → Run: columns by tag
    Run → auditing → findings → report

`summary_writer` is the face of the writing side, `reader` of the reading side; `wire` holds the bytes of both and
touches neither files nor clocks.
"""

from summaries.auditing import Curve, Failure, Finding, Report, RunReport, Severity, audit
from summaries.errors import (
    DamagedLengthError,
    DamagedPayloadError,
    EmptyFileError,
    Fault,
    FaultKind,
    FormatError,
    NegativeStepError,
    NoEventFileError,
    NonFiniteWallTimeError,
    UndecodableError,
    UndecodableTextError,
    UnfinishedTailError,
    UnfinishedTailWarning,
    ZeroFilledError,
)
from summaries.kinds import (
    ScalarsTemplate,
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
from summaries.reading.event_reader import read_events, summary_iterator
from summaries.reading.graphs import read_graph
from summaries.reading.run import Run, Runs, read_logdir, read_run
from summaries.reading.series import Items, Series, Standing
from summaries.tools.clip_advice import ClipAdvice, clip_advice
from summaries.wire.pb import Event, GraphDef, RunMetadata, SessionLog, Summary
from summaries.writing.event_file_writer import EventFileWriter, NonFiniteWarning
from summaries.writing.graphs import write_graph
from summaries.writing.summary_writer import SummaryWriter

__all__ = [
    "ClipAdvice",
    "Curve",
    "DamagedLengthError",
    "DamagedPayloadError",
    "EmptyFileError",
    "Event",
    "EventFileWriter",
    "Failure",
    "Fault",
    "FaultKind",
    "Finding",
    "FormatError",
    "GraphDef",
    "Items",
    "NegativeStepError",
    "NoEventFileError",
    "NonFiniteWallTimeError",
    "NonFiniteWarning",
    "Report",
    "Run",
    "RunMetadata",
    "RunReport",
    "Runs",
    "ScalarsTemplate",
    "Series",
    "SessionLog",
    "Severity",
    "Standing",
    "Summary",
    "SummaryWriter",
    "UndecodableError",
    "UndecodableTextError",
    "UnfinishedTailError",
    "UnfinishedTailWarning",
    "ZeroFilledError",
    "audio",
    "audit",
    "clip_advice",
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
    "read_logdir",
    "read_run",
    "scalar",
    "summary_iterator",
    "tensor",
    "text",
    "video",
    "write_graph",
    "zero_fraction",
]
