"""SummaryWriter: the writer's public interface, as in TF1 and torch."""

from __future__ import annotations

import os
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
    """Writes a run: events go to a file in `logdir`, in the background.

    It has the methods of TF1's FileWriter and of torch.utils.tensorboard's SummaryWriter, with the same arguments.

    Args:
        logdir: the run's directory; created if missing. An address with a scheme, such as `s3://bucket/run`, goes to
            fsspec. If None, `runs/<date>_<host><comment>`.
        graph: a graph to log, as in `add_graph`; a string is taken as torch's second argument, `comment`.
        max_queue: the number of scalars after which a call encodes them; a few thousand is fastest.
        flush_secs: the longest that an event waits, in seconds; a killed process loses at most this much. If None, 2,
            or 60 if the directory is remote.
        graph_def: a GraphDef to log; TF1's older name for `graph`.
        filename_suffix: appended to the file's name.
        purge_step: supersedes the events of the run's earlier files at this step and later: TensorBoard hides them.
        comment: the end of the default directory's name.
        log_dir: torch's name for `logdir`.
        max_pending_bytes: roughly the memory that waiting events may take; a call that finds it used up writes them.
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
            raise TypeError("logdir and log_dir are two names for one argument, got both")
        if isinstance(graph, str):
            if max_queue != _MAX_QUEUE:  # torch's third argument is purge_step
                raise TypeError(
                    "arguments after comment must be passed by name (max_queue=, purge_step=), "
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
        # Lightning's logger calls this on torch's writer, to call add_summary on the result.
        return self

    # Methods of TF1.

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Log a SessionLog: START supersedes earlier events at this step and later.

        Args:
            session_log: our SessionLog, any other with the same wire format, or its bytes.
            global_step: as in `add_scalar`.
        """
        message = SessionLog.FromString(message_bytes(session_log, SessionLog, "session_log"))
        self.add_event(Event(wall_time=self._clock(), step=as_step(global_step), session_log=message))

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Log the cost of one step: TensorBoard's graph shows each node's time and memory.

        Args:
            run_metadata: our RunMetadata, any other with the same wire format, or its bytes.
            tag: the name under which TensorBoard lists it.
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
            graph: a GraphDef from any library, its bytes, an object with `as_graph_def()` such as a TensorFlow graph,
                a torch module or, if `optim` is imported, a loss, which is called once and traced without its arrays.
            global_step: as in `add_scalar`; for a torch module, as in torch: the inputs to trace it with.
            graph_def: another name for `graph`; for a torch module, as in torch: `verbose`.
            use_strict_trace: for a torch module.
            model: torch's name for `graph`.
            input_to_model: torch's name for the inputs.
            verbose: for a torch module: whether to print the graph.

        Raises:
            TypeError: `graph` is none of these.
            ValueError: there is no graph, or the bytes do not parse as a GraphDef.
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

    # Methods of torch, each a function in summaries.kinds.

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Log several numbers to be drawn in one chart.

        Each goes to a run of its own under `main_tag`: the directory `<logdir>/<main_tag>_<name>`.

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
        """Log the distribution of an array's elements: see `summaries.histogram`.

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
        """Log a histogram that was computed elsewhere: see `summaries.histogram_raw`."""
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
        """Log a picture: see `summaries.image`."""
        self.add_summary(kinds.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log a batch of pictures, side by side: see `summaries.images`."""
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
        """Log a picture with boxes drawn on it: see `summaries.image_with_boxes`."""
        summary = kinds.image_with_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self.add_summary(summary, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Log a matplotlib figure, or a list of them: see `summaries.figure`."""
        self.add_summary(kinds.figure(tag, figure, close), global_step, walltime)

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        """Log videos as an animated GIF: see `summaries.video`."""
        self.add_summary(kinds.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log a sound: see `summaries.audio`."""
        self.add_summary(kinds.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Log a text: see `summaries.text`."""
        self.add_summary(kinds.text(tag, text_string), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log an array as it is: see `summaries.tensor`."""
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
        """Log a precision-recall curve: see `summaries.pr_curve`."""
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
        """Log a precision-recall curve that was computed elsewhere: see `summaries.pr_curve_raw`."""
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
        """Log a mesh or a point cloud: see `summaries.mesh`."""
        self.add_summary(kinds.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """Log hyperparameters, and the metrics to compare runs by: see `summaries.hparams`.

        They go to this run, unless `run_name` names a directory below it.
        """
        summary = kinds.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        if run_name is not None and not isinstance(run_name, str):
            raise TypeError(f"run_name must be a string, got {type(run_name).__name__}: {run_name!r}")
        (self if run_name is None else self._child(run_name)).add_summary(summary, global_step)
        for tag, metric in metric_dict.items():
            self._nonfinite.check(tag, as_float(metric), global_step)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Log the layout of the custom-scalars dashboard, once per run: see `summaries.custom_scalars`."""
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
        """Write points for TensorBoard's projector: see `summaries.writing.projector` for the files.

        Args:
            mat: [n, d]: n points.
            metadata: a label for each point, or a list of labels if there is a header.
            label_img: [n, C, H, W]: a picture for each point, values as in `add_image`.
            global_step: as in `add_scalar`.
            tag: the name of the points.
            metadata_header: the names of the labels' columns.

        Raises:
            ValueError: a shape is wrong, or the number of labels or pictures is not that of the points.
            ImportError: there are pictures, and Pillow is not installed.
        """
        if self._closed:
            self._look_closer()  # raises
        check_tag(tag)
        if self._projector is None:
            self._projector = projector.Projector(self._directory)
        self._projector.add(mat, metadata, label_img, as_step(global_step), tag, metadata_header)

    # All files of the run together:

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; with `fsync`, when the disk has it.

        Raises:
            OSError: it could not be written. It is kept, and tried again.
        """
        self._for_each_file(EventFileWriter._flush_file)  # noqa: SLF001 - a part of the class

    def close(self) -> None:
        """Flush, and accept no more events. Closing again does nothing. If the flush fails, the writer stays open."""
        self._for_each_file(EventFileWriter.close)
        self._large.clear()

    def reopen(self) -> None:
        """Close all files, and continue in new ones in the same directories."""
        super().reopen()
        for child in list(self._children.values()):
            if not child.closed:  # its file cannot be written: waiting events go to a new one
                child.reopen()

    def after_fork_in_child(self) -> None:
        """Leave waiting events to the parent; the child's own events go to new files."""
        super().after_fork_in_child()
        self._options["purge_step"] = None  # the parent writes it, and the parent's later events must not be hidden

    def _for_each_file(self, act: Callable[[EventFileWriter], None]) -> None:
        """Apply `act` to the run's own writer and those below it; then raise the first error, if any."""
        errors = []
        for writer in (self, *self._children.values()):
            try:
                act(writer)
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _child(self, name: str) -> EventFileWriter:
        """The writer of a run below this one, created on first use; reopened if it was closed."""
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
    import socket  # noqa: PLC0415 - importing it takes a millisecond

    return os.path.join("runs", f"{time.strftime('%b%d_%H-%M-%S')}_{socket.gethostname()}{comment}")
