"""MediaMethods: a method for each kind of picture and for sounds, with torch's arguments; each calls one in `kinds`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from summaries import kinds
from summaries.writing.event_file_writer import EventFileWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MediaMethods"]


class MediaMethods(EventFileWriter):
    """Methods that build a Summary and hand it to `add_summary`."""

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log a picture, as a PNG. It needs Pillow.

        Args:
            tag: the tag.
            img_tensor: array [C, H, W]: 1 to 4 channels (grey, grey and alpha, RGB, RGB and alpha), height and width in
                pixels. Integers of any dtype count from 0 to 255, floating values from 0 to 1; bool is black and white.
                Values outside are clipped.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.
            dataformats: the order of the axes: "CHW", "HWC", "HW"; or "NCHW" and the like for a batch, drawn as a grid.

        Raises:
            TypeError: the tag is not a string, or the array is not numeric.
            ValueError: the tag is not Unicode text, or the shape does not fit `dataformats`.
            ImportError: Pillow is not installed.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_image("noise", np.random.rand(3, 32, 32), 0)  # 3 channels, 32 by 32 pixels, from 0 to 1
        """
        self.add_summary(kinds.image.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log a batch of pictures as one PNG, side by side, eight in a row. It needs Pillow.

        Args:
            tag: the tag.
            img_tensor: array [N, C, H, W]: N pictures, each as in `add_image`; or a list of pictures of the same size.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.
            dataformats: the order of the axes, such as "NHWC"; for a list, that of one picture, such as "CHW".

        Raises:
            TypeError: the tag is not a string, or the array is not numeric.
            ValueError: the tag is not Unicode text, or the shape does not fit `dataformats`.
            ImportError: Pillow is not installed.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_images("digits", np.zeros((16, 1, 28, 28), np.uint8), 0)  # two rows of eight
        """
        self.add_summary(kinds.image.images(tag, img_tensor, dataformats), global_step, walltime)

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
        """Log a picture with boxes drawn on it. It needs Pillow.

        Args:
            tag: the tag.
            img_tensor: array [C, H, W], as in `add_image`; the boxes are in pixels of the grid, if it is a batch.
            box_tensor: array [n, 4]: left, top, right and bottom of each box, in pixels. Further columns are left out,
                with a warning once per tag.
            global_step: as in `add_scalar`.
            walltime: as in `add_scalar`.
            rescale: the factor for height and width, positive.
            dataformats: as in `add_image`.
            labels: a text for each box, or one text for one box.

        Raises:
            TypeError: the tag is not a string, or an array is not numeric.
            ValueError: the tag is not Unicode text, a shape does not fit, or `rescale` is not positive.
            ImportError: Pillow is not installed.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_image_with_boxes("found", np.zeros((3, 60, 80)), [[5, 5, 40, 30]], 0, labels=["cat"])
        """
        summary = kinds.image.image_with_boxes(tag, img_tensor, box_tensor, rescale, dataformats, labels)
        self.add_summary(summary, global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """Log a matplotlib figure as a PNG. It needs matplotlib and Pillow.

        Args:
            tag: the tag.
            figure: a matplotlib Figure; or a list of them, all of the same size, drawn side by side.
            global_step: as in `add_scalar`.
            close: whether to close the figures in pyplot.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string, or `figure` is not a figure.
            ValueError: the tag is not Unicode text, the figures differ in size, or the list is empty.
            ImportError: matplotlib or Pillow is not installed.

        >>> import tempfile
        >>> from matplotlib.figure import Figure
        >>> from summaries import SummaryWriter
        >>> figure = Figure()
        >>> lines = figure.subplots().plot([1, 4, 9])
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_figure("squares", figure, 0)
        """
        self.add_summary(kinds.image.figure(tag, figure, close), global_step, walltime)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
        dataformats: str = "NTCHW",
    ) -> None:
        """Log videos, side by side, as one animated GIF. It needs Pillow.

        Args:
            tag: the tag.
            vid_tensor: array [N, T, C, H, W]: N videos of T frames, each frame as in `add_image`.
            global_step: as in `add_scalar`.
            fps: frames per second, positive.
            walltime: as in `add_scalar`.
            dataformats: the order of the axes, if it is another; an axis of length 1 may be missing.

        Raises:
            TypeError: the tag is not a string, or the array is not numeric.
            ValueError: the tag is not Unicode text, `fps` is not positive, or the shape is wrong.
            ImportError: Pillow is not installed.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_video("agent", np.random.rand(1, 8, 3, 24, 32), 0, fps=8)  # one second
        """
        self.add_summary(kinds.image.video(tag, vid_tensor, fps, dataformats), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log a sound, as a WAV of 16-bit PCM.

        Args:
            tag: the tag.
            snd_tensor: samples from -1 to 1: array [n], possibly with further axes of length 1, or in stereo [n, 2].
                Values outside are clipped, with a warning once per tag; NaN becomes silence.
            global_step: as in `add_scalar`.
            sample_rate: samples per second; a fraction is rounded.
            walltime: as in `add_scalar`.

        Raises:
            TypeError: the tag is not a string, the samples are not real numbers, or the rate is not a number.
            ValueError: the tag is not Unicode text, the rate is not positive or too large for a WAV, or the samples are
                neither one channel nor two.

        >>> import tempfile
        >>> from summaries import SummaryWriter
        >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
        ...     writer.add_audio("beep", np.sin(np.arange(8000) / 4), 0, sample_rate=8000)  # one second
        """
        self.add_summary(kinds.audio.audio(tag, snd_tensor, sample_rate), global_step, walltime)
