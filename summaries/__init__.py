"""Write, read and audit TensorBoard event files, without TensorFlow.

    numbers → kinds → wire → writing → storage
    storage → wire → reading → Run → auditing → report

- `kinds` turns numbers into summaries; it has a module for each kind. `wire` turns messages and columns into bytes and
  back, without files or clocks; `wire.compiled` does the same faster with numba, whose machine code `native` keeps.
- `writing` contains `SummaryWriter` and the other writers. `storage` accesses local disks and object stores.
- `reading` returns events one by one, or whole runs as columns. It never imports `kinds`.
- `auditing` finds out what went wrong in a run: signals, rules, findings, reports. `tools` verifies files, exports runs
  and gives advice on clipping. `execution` runs one task for many runs: in processes, or on a
  cluster.

Imports point down only: cli, tools and auditing, writing and reading, kinds, storage and wire, execution, values.
`values` converts users' values to numbers; `errors` defines the faults of files.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from summaries.errors import (
    DamagedLengthError,
    DamagedPayloadError,
    Fault,
    FaultKind,
    FormatError,
    NoEventFileError,
    UndecodableError,
    UndecodableTextError,
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
from summaries.reading.event_iterator import read_events, summary_iterator
from summaries.reading.graphs import read_graph
from summaries.reading.media import Audio, Images
from summaries.reading.restarts import Standing
from summaries.reading.run import Run, Runs, read_logdir, read_run
from summaries.reading.series import Items, Series
from summaries.tools.clip_advice import ClipAdvice, clip_advice
from summaries.tools.exporting import Exported, export
from summaries.tools.verifying import Verdict, verify, verify_logdir
from summaries.wire.pb import Event, GraphDef, RunMetadata, SessionLog, Summary
from summaries.writing.event_file_writer import EventFileWriter, NonFiniteWarning
from summaries.writing.global_writer import GlobalSummaryWriter
from summaries.writing.graphs import write_graph
from summaries.writing.summary_writer import SummaryWriter

if TYPE_CHECKING:
    __version__: str
    from summaries.auditing import Curve, Failure, Finding, Report, RunReport, Severity, audit, compare
    from summaries.auditing.config import Config, ConfigError

__all__ = [
    "Audio",
    "ClipAdvice",
    "Config",
    "ConfigError",
    "Curve",
    "DamagedLengthError",
    "DamagedPayloadError",
    "Event",
    "EventFileWriter",
    "Exported",
    "Failure",
    "Fault",
    "FaultKind",
    "Finding",
    "FormatError",
    "GlobalSummaryWriter",
    "GraphDef",
    "Images",
    "Items",
    "NoEventFileError",
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
    "UnfinishedTailWarning",
    "Verdict",
    "ZeroFilledError",
    "audio",
    "audit",
    "clip_advice",
    "compare",
    "custom_scalars",
    "export",
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
    "verify",
    "verify_logdir",
    "video",
    "write_graph",
    "zero_fraction",
]


_OF_THE_AUDIT = dict.fromkeys(("Config", "ConfigError"), "summaries.auditing.config") | dict.fromkeys(
    ("Curve", "Failure", "Finding", "Report", "RunReport", "Severity", "audit", "compare"), "summaries.auditing"
)


def __getattr__(name: str) -> object:
    """Import the audit on first use, and its configuration, which loads all rules: writers and readers need neither."""
    value: object
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - takes a while to import, and few ask

        value = version("gradledger")
    elif module := _OF_THE_AUDIT.get(name):
        value = getattr(import_module(module), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
