"""SummaryWriter: the face of the writer that users know from TF1 and from torch."""

from __future__ import annotations

import os
import socket
import time
from typing import TYPE_CHECKING, Any

from summaries import kinds
from summaries.kinds import graph as graphs
from summaries.storage.names import join
from summaries.values import as_array, as_float, as_step, check_mapping, check_tag
from summaries.wire.pb import Event, RunMetadata, SessionLog, TaggedRunMetadata
from summaries.wire.protobuf import message_bytes
from summaries.writing import projector
from summaries.writing.event_file_writer import EventFileWriter, new_flusher
from summaries.writing.large_histograms import LARGE, LargeHistograms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["SummaryWriter"]

_MAX_QUEUE = 1 << 13


class SummaryWriter(EventFileWriter):
    """Writes a run: what is logged goes to an event file in `logdir`, in the background.

    The methods are those of TF1's FileWriter and of torch.utils.tensorboard's SummaryWriter, with their arguments.

    Args:
        logdir: the run's directory; made where it is missing. An address with a scheme, such as `s3://bucket/run`, goes
            to fsspec. Where None, `runs/<date>_<host><comment>`.
        graph: a graph to log, as in `add_graph`; or a string, which is taken for torch's second argument, `comment`.
        max_queue: so many scalars wait as numbers, before a call encodes them; a few thousand is fastest.
        flush_secs: the longest that an event waits, in seconds; what a process that is killed loses at most. Where
            None, 2, or 60 if the directory is remote.
        graph_def: a GraphDef to log; TF1's older name for `graph`.
        filename_suffix: appended to the file's name.
        purge_step: what earlier files of the run hold at this step and later is superseded: TensorBoard hides it.
        comment: the end of the default directory's name.
        log_dir: torch's name for `logdir`.
        max_pending_bytes: the memory that waiting events may take, about; the call that finds it used up writes.
        fsync: flush() and close() return only when the bytes are on the disk.

    Raises:
        TypeError: both `logdir` and `log_dir` are given.
        ValueError: a bound is not positive.
        OSError: the file cannot be created.

    >>> import tempfile
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     for step in range(3):
    ...         writer.add_scalar("loss", 1 / (1 + step), step)
    """

    def __init__(
        self,
        logdir: str | os.PathLike[str] | None = None,
        graph: Any = None,
        max_queue: int = _MAX_QUEUE,
        flush_secs: float | None = None,
        graph_def: Any = None,
        *,
        filename_suffix: str | None = "",
        purge_step: int | None = None,
        comment: str = "",
        log_dir: str | os.PathLike[str] | None = None,
        max_pending_bytes: int = 64 << 20,
        fsync: bool = False,
    ) -> None:
        if logdir is not None and log_dir is not None:
            raise TypeError("logdir and log_dir are one argument under two names, got both")
        if isinstance(graph, str):
            if max_queue != _MAX_QUEUE:  # torch's third argument is purge_step
                raise TypeError(
                    "what follows the comment must be given by name (max_queue=, purge_step=), "
                    f"got {graph!r}, {max_queue!r}"
                )
            graph, comment = None, graph
        if not isinstance(comment, str):
            raise TypeError(f"comment must be a string, got {type(comment).__name__}: {comment!r}")
        self._options: dict[str, Any] = {
            "filename_suffix": "" if filename_suffix is None else filename_suffix,
            "max_pending_bytes": max_pending_bytes,
            "fsync": fsync,
            "purge_step": purge_step,
        }
        self._children: dict[str, EventFileWriter] = {}  # of add_scalars and add_hparams, by directory
        self._run_metadata_tags: set[str] = set()
        self._projector: projector.Projector | None = None
        given = logdir if logdir is not None else log_dir
        directory = os.fsdecode(given) if given else _default_logdir(comment)
        self._options["flusher"] = new_flusher(directory, flush_secs)
        super().__init__(directory, max_queue, **self._options)
        self._large = LargeHistograms(self._max_pending_bytes // 4)
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    @property
    def log_dir(self) -> str:
        """The run's directory, under torch's name."""
        return self.get_logdir()

    def _get_file_writer(self) -> EventFileWriter:
        # What Lightning's logger asks torch's writer for, to call add_summary on it.
        return self

    # TF1's.

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Log a SessionLog: START says that what was logged at this step and later is superseded.

        Args:
            session_log: our SessionLog, anybody's with the same wire format, or its bytes.
            global_step: as in `add_scalar`.
        """
        message = SessionLog.FromString(message_bytes(session_log, SessionLog, "session_log"))
        self.add_event(Event(wall_time=self._clock(), step=as_step(global_step), session_log=message))

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Log what one step cost: TensorBoard's graph shows each node's time and memory.

        Args:
            run_metadata: our RunMetadata, anybody's with the same wire format, or its bytes.
            tag: what TensorBoard lists it under.
            global_step: as in `add_scalar`.

        Raises:
            ValueError: the tag was used before.
        """
        check_tag(tag)
        if tag in self._run_metadata_tags:
            raise ValueError(f"the tag {tag!r} was already used for run metadata: each may be used once")
        data = message_bytes(run_metadata, RunMetadata, "run_metadata")
        tagged = TaggedRunMetadata(tag=tag, run_metadata=data)
        self.add_event(Event(wall_time=self._clock(), step=as_step(global_step), tagged_run_metadata=tagged))
        self._run_metadata_tags.add(tag)

    def add_graph(
        self,
        graph: Any = None,
        global_step: Any = None,
        graph_def: Any = None,
        use_strict_trace: bool = True,
        *,
        model: Any = None,
        input_to_model: Any = None,
        verbose: bool = False,
    ) -> None:
        """Log a graph for TensorBoard's graph dashboard.

        Args:
            graph: a GraphDef of anybody's, its bytes, something with `as_graph_def()` such as a TensorFlow graph; a
                loss, where `optim` is imported, which is called once and drawn without its arrays; or a torch module.
            global_step: as in `add_scalar`; for a torch module, as in torch: the inputs to trace it with.
            graph_def: another name for `graph`; for a torch module, as in torch: `verbose`.
            use_strict_trace: for a torch module.
            model: torch's name for `graph`.
            input_to_model: torch's name for the inputs.
            verbose: for a torch module: whether to print the graph.

        Raises:
            TypeError: it is none of these.
            ValueError: there is no graph, or the bytes are no GraphDef.
        """
        given = model if graph is None else graph
        if given is not None and graphs.is_torch_module(given):
            inputs = global_step if input_to_model is None else input_to_model
            definition, metadata = graphs.trace_torch(given, inputs, verbose or bool(graph_def), use_strict_trace)
            self.add_event(Event(wall_time=self._clock(), graph_def=definition))
            if "step1" not in self._run_metadata_tags:
                self.add_run_metadata(metadata, "step1")
            return
        if input_to_model is not None:
            raise TypeError(f"input_to_model is for torch modules, got it with {type(given).__name__}")
        given = graph_def if given is None else given
        if given is None:
            raise ValueError("add_graph needs a graph or a graph_def, got neither")
        data = graphs.graph_bytes(given)
        self.add_event(Event(wall_time=self._clock(), step=as_step(global_step), graph_def=data))

    def add_onnx_graph(self, prototxt: str | os.PathLike[str]) -> None:
        """Log the graph of an ONNX model.

        Args:
            prototxt: the model's file, under torch's name.

        Raises:
            ImportError: onnx is not installed.
            OSError: the file cannot be read.
        """
        self.add_graph(graphs.read_onnx(os.fspath(prototxt)))

    # torch's, each a function of summaries.kinds.

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Log several numbers to be drawn in one chart.

        Each goes, under `main_tag`, to a run of its own: the directory `<logdir>/<main_tag>_<name>`.

        Args:
            main_tag: the tag.
            tag_scalar_dict: name → number.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.
        """
        check_tag(main_tag)
        check_mapping(tag_scalar_dict, "tag_scalar_dict")
        now = self._clock() if walltime is None else walltime
        step = as_step(global_step)
        values = {name: as_float(value, f"tag_scalar_dict[{name!r}]") for name, value in tag_scalar_dict.items()}
        for name, value in values.items():
            child = self._child(f"{main_tag.replace('/', '_')}_{name}")
            child.add_scalar(main_tag, value, step, now)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: str | int | Sequence[float] = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log how the elements of an array are distributed: `summaries.histogram` says more.

        A large array is copied, and counted in the background.
        """
        check_tag(tag)
        array = as_array(values)
        if array.size <= LARGE:
            self.add_summary(kinds.histogram(tag, array, bins, max_bins), global_step, walltime)
        else:
            now = self._clock() if walltime is None else as_float(walltime, "walltime")
            self._add_deferred(*self._large.deferred(tag, array, bins, max_bins, as_step(global_step), now))
        if array.dtype.kind == "f" and not kinds.all_finite(array):
            written = "counts in the outermost bins, NaN in none"
            self._nonfinite.warn(tag, "values that are not finite", global_step, written)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,  # noqa: A002 - torch's names
        max: float,  # noqa: A002
        num: float,
        sum: float,  # noqa: A002
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a histogram that was computed elsewhere: `summaries.histogram_raw` says more."""
        summary = kinds.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts)
        self.add_summary(summary, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log a picture: `summaries.image` says more."""
        self.add_summary(kinds.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log a batch of pictures, side by side: `summaries.images` says more."""
        self.add_summary(kinds.images(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Sequence[str] | str | None = None,
    ) -> None:
        """Log a picture with boxes drawn on it: `summaries.image_with_boxes` says more."""
        summary = kinds.image_with_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self.add_summary(summary, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Log a matplotlib figure, or a list of them: `summaries.figure` says more."""
        self.add_summary(kinds.figure(tag, figure, close), global_step, walltime)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        """Log videos as an animated GIF: `summaries.video` says more."""
        self.add_summary(kinds.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log a sound: `summaries.audio` says more."""
        self.add_summary(kinds.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Log a text: `summaries.text` says more."""
        self.add_summary(kinds.text(tag, text_string), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log an array as it is: `summaries.tensor` says more."""
        self.add_summary(kinds.tensor(tag, tensor), global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a precision-recall curve: `summaries.pr_curve` says more."""
        summary = kinds.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self.add_summary(summary, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a precision-recall curve that was computed elsewhere: `summaries.pr_curve_raw` says more."""
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        summary = kinds.pr_curve_raw(tag, *counts, precision, recall, num_thresholds, weights)
        self.add_summary(summary, global_step, walltime)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Mapping[str, Any] | None = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log a mesh or a point cloud: `summaries.mesh` says more."""
        self.add_summary(kinds.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Log hyperparameters, and the metrics to compare runs by: `summaries.hparams` says more.

        They go to this run, unless `run_name` names a directory below it.
        """
        summary = kinds.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        if run_name is not None and not isinstance(run_name, str):
            raise TypeError(f"run_name must be a string, got {type(run_name).__name__}: {run_name!r}")
        (self if run_name is None else self._child(run_name)).add_summary(summary, global_step)
        for tag, metric in metric_dict.items():
            self._nonfinite.check(tag, as_float(metric), global_step)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Log the layout of the custom-scalars dashboard, once for a run: `summaries.custom_scalars` says more."""
        self.add_summary(kinds.custom_scalars(layout))

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Log a layout of one chart, with a line for each tag."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Log a layout of one chart, with one line and a band around it: three tags, value, lower and upper."""
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Write points for TensorBoard's projector: `summaries.projector` says what goes where.

        Args:
            mat: [n, d]: n points.
            metadata: a label for each point, or a list of labels where there is a header.
            label_img: [n, C, H, W]: a picture for each point, values as in `add_image`.
            global_step: as in `add_scalar`.
            tag: the name of the points.
            metadata_header: the names of the label's columns.

        Raises:
            ValueError: a shape is another, or there are not as many labels or pictures as points.
            ImportError: there are pictures, and Pillow is not installed.
        """
        if self._closed:
            self._look_closer()  # raises
        check_tag(tag)
        if self._projector is None:
            self._projector = projector.Projector(self._directory)
        self._projector.add(mat, metadata, label_img, as_step(global_step), tag, metadata_header)

    # All files of the run together.

    def flush(self) -> None:
        """Return when all that was logged before is in the operating system's hands; on the disk, with `fsync`.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        self._for_each_file(EventFileWriter._flush_file)  # noqa: SLF001 - a part of the class

    def close(self) -> None:
        """Flush, and take no more events. Closing again does nothing. Where flush() fails, the writer stays open."""
        self._for_each_file(EventFileWriter.close)
        self._large.clear()

    def reopen(self) -> None:
        """Go on in new files in the same directories. What is open is closed first."""
        super().reopen()
        for child in list(self._children.values()):
            if not child.closed:  # its file takes nothing: what waits goes to a new one
                child.reopen()

    def after_fork_in_child(self) -> None:
        """Leave what waits to the parent, and go on, when something is logged, in files of the child's own."""
        super().after_fork_in_child()
        self._options["purge_step"] = None  # the parent says it, and what it logs since then is not to be hidden

    def _for_each_file(self, act: Callable[[EventFileWriter], None]) -> None:
        """Do it for the run's own file and those below; the first error is raised when all were tried."""
        errors = []
        for writer in (self, *self._children.values()):
            try:
                act(writer)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _child(self, name: str) -> EventFileWriter:
        """The writer of a run below this one; made when first asked for, and again after close()."""
        if self._closed:
            self._look_closer()  # raises
        directory = join(self._directory, name)
        with self._open_lock:
            child = self._children.get(directory)
            if child is None:
                child = self._children[directory] = EventFileWriter(directory, self._max_queue, **self._options)
            elif child.closed:
                child.reopen()
        return child


def _default_logdir(comment: str) -> str:
    return os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
