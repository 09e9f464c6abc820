"""KindMethods: a method for each kind of summary but histograms and media, with torch's arguments.

Each calls one in `kinds`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries import kinds
from summaries.values import check_tag
from summaries.writing.event_file_writer import EventFileWriter
from summaries.writing.projector import write_points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["KindMethods"]


class KindMethods(EventFileWriter):
    """Methods that build a Summary and hand it to `add_summary`; and one for points, which have files of their own."""

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """Log a text, which TensorBoard renders as Markdown.

        Args:
            tag: the tag, to which `/text_summary` is appended, as torch and tensorboardX do.
            text_string: Markdown.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag or the text is not a string.
            ValueError: the tag is not Unicode text.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_text("note", "**warm-up** ends here", 500)
        """
        self.add_summary(kinds.text.text(tag, text_string), global_step, walltime)

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """Log an array as it is. Matrices are drawn on gradledger's page in TensorBoard.

        Args:
            tag: the tag.
            tensor: array or tensor of any library, any shape and any numeric dtype, bfloat16 included; below 2 GB.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string, or the array is not numeric.
            ValueError: the tag is not Unicode text, or the array is 2 GB or more.

        >>> import tempfile
        >>> from summaries import SummaryWriter, read_run
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_tensor("confusion", np.array([[9, 1], [2, 8]], np.int32), 0)
        >>> read_run(writer.path).tensors["confusion"][0]
        array([[9, 1],
               [2, 8]], dtype=int32)
        """
        self.add_summary(kinds.tensor.tensor(tag, tensor), global_step, walltime)

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
        """Log a precision-recall curve.

        Args:
            tag: the tag.
            labels: array of any shape: 1 or True for positives, 0 or False for negatives; soft labels lie between.
            predictions: array of the same shape: probabilities from 0 to 1. Labels and predictions beyond count as the
                nearer end, and NaN is left out, each with a warning once per tag.
            global_step: as in `add_scalar`.
            num_thresholds: the number of thresholds, evenly spaced from 0 to 1; at least 1.
            weights: array of the same shape, or one number: the weight of each prediction; 1 if None.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string, or an array is not numeric.
            ValueError: the tag is not Unicode text, the shapes differ, or there is no threshold.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_pr_curve("digits", [1, 1, 0, 0], [0.9, 0.4, 0.6, 0.1], 0)
        """
        summary = kinds.pr_curve.pr_curve(tag, labels, predictions, num_thresholds, weights)
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
        """Log a precision-recall curve whose six rows were computed elsewhere.

        Args:
            tag: the tag.
            true_positive_counts: array [n], by threshold.
            false_positive_counts: array [n].
            true_negative_counts: array [n].
            false_negative_counts: array [n].
            precision: array [n], from 0 to 1.
            recall: array [n], from 0 to 1.
            global_step: as in `add_scalar`.
            num_thresholds: the most of the n columns to keep; 0 keeps all.
            weights: accepted for torch's sake; unused.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string, or an array is not numeric.
            ValueError: the tag is not Unicode text, or the six arrays differ in length.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_pr_curve_raw("digits", [2, 1], [2, 0], [0, 2], [0, 1], [0.5, 1], [1, 0.5], 0)
        """
        counts = (true_positive_counts, false_positive_counts, true_negative_counts, false_negative_counts)
        summary = kinds.pr_curve.pr_curve_raw(tag, *counts, precision, recall, num_thresholds, weights)
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
        """Log a mesh; or a point cloud, if there are no faces.

        Args:
            tag: the tag; the parts are stored under `<tag>_VERTEX`, `<tag>_FACE` and `<tag>_COLOR`.
            vertices: array [batch, n, 3], coordinates, stored as float32.
            colors: array [batch, n, 3], red, green and blue from 0 to 255, or None.
            faces: array [batch, m, 3], indices of the three vertices of each triangle, or None.
            config_dict: names and settings of THREE.js classes, such as the camera and the material; JSON values.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string, an array is not numeric, or the settings are not JSON values.
            ValueError: the tag is not Unicode text, or an array does not have three axes.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_mesh("cloud", np.random.rand(1, 50, 3), np.full((1, 50, 3), 128), global_step=0)
        """
        self.add_summary(kinds.mesh.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Log the layout of the custom-scalars dashboard; TensorBoard expects one per run.

        Args:
            layout: category → chart title → ["Multiline", tags], where a tag may be a regular expression, or
                ["Margin", [value, lower, upper]].

        Raises:
            TypeError: the layout is not made of mappings, or the tags are not strings.
            ValueError: a chart is not a kind and tags, or a margin chart does not have three tags.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_custom_scalars({"losses": {"both": ["Multiline", ["train/loss", "val/loss"]]}})
        """
        self.add_summary(kinds.custom_scalars.custom_scalars(layout))

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Log a layout of one chart, with a line for each tag.

        Args:
            tags: the tags, or regular expressions for them.
            category: the heading above the chart.
            title: the chart's title.

        Raises:
            TypeError: the tags are not strings.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_custom_scalars_multilinechart(["train/loss", "val/loss"], title="losses")
        """
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Log a layout of one chart, with one line and a band around it.

        Args:
            tags: three tags: of the value, of the lower and of the upper end of the band.
            category: the heading above the chart.
            title: the chart's title.

        Raises:
            TypeError: the tags are not strings.
            ValueError: there are not three.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_custom_scalars_marginchart(["mean", "low", "high"], title="spread")
        """
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
            mat: array [n, d]: n points in d dimensions, numeric.
            metadata: a label for each point, or a list of labels if there is a header.
            label_img: [n, C, H, W]: a picture for each point, values as in `add_image`.
            global_step: as in `add_scalar`.
            tag: the name of the points.
            metadata_header: the names of the labels' columns.

        Raises:
            ValueError: a shape is wrong, or the number of labels or pictures is not that of the points.
            ImportError: there are pictures, and Pillow is not installed.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_embedding(np.random.rand(3, 8), metadata=["a", "b", "c"], global_step=0)
        """
        check_tag(tag)
        step = self._event_step(global_step)
        write_points(self._run_file.destination, mat, metadata, label_img, step, tag, metadata_header)
