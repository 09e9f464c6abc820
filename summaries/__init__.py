"""Write, read and audit TensorBoard event files, without TensorFlow.

    numbers → kinds → wire → writing → storage
    storage → wire → reading → Run → auditing → report

- `kinds` turns numbers into summaries; it has a module for each kind. `wire` turns messages and columns into bytes and
  back, without files or clocks; `wire.compiled` does the same at memory speed, in machine code that `native` loads.
- `writing` contains `SummaryWriter` and the other writers. `storage` accesses local disks and object stores.
- `reading` returns events one by one, or whole runs as columns. It never imports `kinds`. `presenting` shows them.
- `auditing` finds out what went wrong in a run: signals, rules, findings, reports. `tools` verifies files, exports runs
  and gives advice on clipping. `execution` runs one task for many runs: in processes, or on a
  cluster.

Imports point down only: cli, tools and auditing, presenting, writing and reading, kinds, storage and wire, execution,
values.
`values` converts users' values to numbers; `errors` defines the faults of files. What is named here is imported when it
is first used; see `lazy`.
"""

from typing import TYPE_CHECKING

from summaries.lazy import lazy

if TYPE_CHECKING:
    __version__: str
    from summaries import (
        auditing as auditing,
        errors as errors,
        execution as execution,
        kinds as kinds,
        presenting as presenting,
        reading as reading,
        storage as storage,
        tools as tools,
        values as values,
        wire as wire,
        writing as writing,
    )
    from summaries.auditing import audit as audit, compare as compare
    from summaries.auditing.config import Config as Config, ConfigError as ConfigError
    from summaries.auditing.curves import Curve as Curve
    from summaries.auditing.findings import (
        Failure as Failure,
        Finding as Finding,
        RunReport as RunReport,
        Severity as Severity,
    )
    from summaries.auditing.reports import Report as Report
    from summaries.errors import (
        DamagedLengthError as DamagedLengthError,
        DamagedPayloadError as DamagedPayloadError,
        Fault as Fault,
        FaultKind as FaultKind,
        FormatError as FormatError,
        NoEventFileError as NoEventFileError,
        UndecodableError as UndecodableError,
        UndecodableTextError as UndecodableTextError,
        UnfinishedTailWarning as UnfinishedTailWarning,
        ZeroFilledError as ZeroFilledError,
    )
    from summaries.kinds.audio import audio as audio
    from summaries.kinds.custom_scalars import custom_scalars as custom_scalars
    from summaries.kinds.histogram import histogram as histogram, histogram_raw as histogram_raw
    from summaries.kinds.hparams import hparams as hparams
    from summaries.kinds.image import (
        figure as figure,
        image as image,
        image_with_boxes as image_with_boxes,
        images as images,
        video as video,
    )
    from summaries.kinds.merge import merge as merge
    from summaries.kinds.mesh import mesh as mesh
    from summaries.kinds.pr_curve import pr_curve as pr_curve, pr_curve_raw as pr_curve_raw
    from summaries.kinds.scalar import (
        ScalarsTemplate as ScalarsTemplate,
        scalar as scalar,
        zero_fraction as zero_fraction,
    )
    from summaries.kinds.tensor import tensor as tensor
    from summaries.kinds.text import text as text
    from summaries.reading.event_iterator import read_events as read_events, summary_iterator as summary_iterator
    from summaries.reading.graphs import read_graph as read_graph
    from summaries.reading.media import Audio as Audio, Images as Images
    from summaries.reading.restarts import Standing as Standing
    from summaries.reading.run import Run as Run, Runs as Runs, read_logdir as read_logdir, read_run as read_run
    from summaries.reading.series import Items as Items, Series as Series
    from summaries.tools.clip_advice import ClipAdvice as ClipAdvice, clip_advice as clip_advice
    from summaries.tools.exporting import Exported as Exported, export as export
    from summaries.tools.querying import dataset as dataset, scan as scan
    from summaries.tools.verifying import Verdict as Verdict, verify as verify, verify_logdir as verify_logdir
    from summaries.wire.pb import (
        Event as Event,
        GraphDef as GraphDef,
        RunMetadata as RunMetadata,
        SessionLog as SessionLog,
        Summary as Summary,
    )
    from summaries.writing.event_file_writer import (
        EventFileWriter as EventFileWriter,
        NonFiniteWarning as NonFiniteWarning,
    )
    from summaries.writing.graphs import write_graph as write_graph
    from summaries.writing.summary_writer import (
        GlobalSummaryWriter as GlobalSummaryWriter,
        SummaryWriter as SummaryWriter,
    )
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            "": "auditing errors execution kinds presenting reading storage tools values wire writing",
            "auditing": "audit compare",
            "auditing.config": "Config ConfigError",
            "auditing.curves": "Curve",
            "auditing.findings": "Failure Finding RunReport Severity",
            "auditing.reports": "Report",
            "errors": "DamagedLengthError DamagedPayloadError Fault FaultKind FormatError NoEventFileError "
            "UndecodableError UndecodableTextError UnfinishedTailWarning ZeroFilledError",
            "kinds.audio": "audio",
            "kinds.custom_scalars": "custom_scalars",
            "kinds.histogram": "histogram histogram_raw",
            "kinds.hparams": "hparams",
            "kinds.image": "figure image image_with_boxes images video",
            "kinds.merge": "merge",
            "kinds.mesh": "mesh",
            "kinds.pr_curve": "pr_curve pr_curve_raw",
            "kinds.scalar": "ScalarsTemplate scalar zero_fraction",
            "kinds.tensor": "tensor",
            "kinds.text": "text",
            "reading.event_iterator": "read_events summary_iterator",
            "reading.graphs": "read_graph",
            "reading.media": "Audio Images",
            "reading.restarts": "Standing",
            "reading.run": "Run Runs read_logdir read_run",
            "reading.series": "Items Series",
            "tools.clip_advice": "ClipAdvice clip_advice",
            "tools.exporting": "Exported export",
            "tools.querying": "dataset scan",
            "tools.verifying": "Verdict verify verify_logdir",
            "wire.pb": "Event GraphDef RunMetadata SessionLog Summary",
            "writing.event_file_writer": "EventFileWriter NonFiniteWarning",
            "writing.graphs": "write_graph",
            "writing.summary_writer": "GlobalSummaryWriter SummaryWriter",
        },
    )
