"""KindMethods: a method for each kind of summary, with torch's arguments; each calls its function in `kinds`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from summaries import kinds
from summaries.values import as_array, as_float, as_tag, check_tag
from summaries.writing import projector
from summaries.writing.event_file_writer import EventFileWriter
from summaries.writing.large_histograms import LARGE, LargeHistograms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

__all__ = ["KindMethods"]


class KindMethods(EventFileWriter):
    """A part of SummaryWriter, which sets the attributes."""

    _large_histograms: LargeHistograms
    _projector_files: projector.Projector | None
    _default_bins: Any = None

    @contextmanager
    def use_metadata(self, *, global_step: Any = None, walltime: float | None = None) -> Iterator[Self]:
        """Within a `with` block, give every call that has none this step and this wall time, as tensorboardX does.

        Args:
            global_step: as in `add_scalar`; None leaves it as it is.
            walltime: seconds since the epoch; None leaves it as it is.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer, writer.use_metadata(global_step=10):
        ...     writer.add_scalar("loss", 0.5)
        """
        before = self._default_step, self._wall_clock
        self._default_step = self._event_step(global_step)
        if walltime is not None:
            seconds = as_float(walltime, "walltime")
            self._wall_clock = lambda: seconds
        try:
            yield self
        finally:
            self._default_step, self._wall_clock = before

    @property
    def default_bins(self) -> Any:
        """What `add_histogram` takes for bins="tensorflow": the list of TensorFlow's edges, or what is set instead."""
        return kinds.tensorflow_edges().tolist() if self._default_bins is None else self._default_bins

    @default_bins.setter
    def default_bins(self, bins: str | int | list[float]) -> None:
        self._default_bins = bins

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

        A large array is copied, and counted in the background, unless counting it takes no longer than copying it.
        """
        tag = as_tag(tag)
        if self._default_bins is not None and isinstance(bins, str) and bins == "tensorflow":
            bins = self._default_bins
        array = as_array(values)
        if array.size <= LARGE or (isinstance(bins, str) and bins == "tensorflow" and kinds.is_fast(array)):
            found = kinds.distribution(array, bins, max_bins)
            self.add_summary(kinds.histogram_bytes(tag, found), global_step, walltime)
            finite = found.all_finite
        else:
            now = self._wall_clock() if walltime is None else as_float(walltime, "walltime")
            self._add_deferred(
                *self._large_histograms.deferred(tag, array, bins, max_bins, self._event_step(global_step), now)
            )
            finite = array.dtype.kind != "f" or kinds.all_finite(array)
        if not finite:
            written = "counts in the outermost bins, NaN in none"
            self._nonfinite_warnings.warn(tag, "values that are not finite", global_step, written)

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
        """Log a picture, with one to four channels, as a PNG: `summaries.image` has the arguments in full."""
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
        rescale: float | str = 1,
        dataformats: Any = "CHW",
        labels: Sequence[str] | str | None = None,
    ) -> None:
        """Log a picture with boxes drawn on it: see `summaries.image_with_boxes`."""
        summary = kinds.image_with_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self.add_summary(summary, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Log a matplotlib figure, or a list side by side, as a picture, and close them: see `summaries.figure`."""
        self.add_summary(kinds.figure(tag, figure, close), global_step, walltime)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
        dataformats: str = "NTCHW",
    ) -> None:
        """Log videos as an animated GIF: see `summaries.video`."""
        self.add_summary(kinds.video(tag, vid_tensor, fps, dataformats), global_step, walltime)

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
        """Log a text, which TensorBoard renders as Markdown, under `<tag>/text_summary`: see `summaries.text`."""
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
        check_tag(tag)
        if self._projector_files is None:
            self._projector_files = projector.Projector(self._event_directory, self._storage_options)
        self._projector_files.add(mat, metadata, label_img, self._event_step(global_step), tag, metadata_header)
