"""Image summaries: pictures, batches, boxes, figures and videos. Pure (no I/O)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds import pictures
from summaries.kinds.odd_values import warn_odd
from summaries.optional import needs
from summaries.values import as_array, as_float, check_tag
from summaries.wire.pb import Summary
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["figure", "image", "image_with_boxes", "images", "video"]

_BOX = 4  # left, top, right, bottom


def image(tag: str, img_tensor: Any, dataformats: str = "CHW") -> Summary:
    """A Summary of one picture, stored as PNG.

    Args:
        tag: the tag.
        img_tensor: array [C, H, W]: 1 to 4 channels (grey, grey and alpha, RGB, RGB and alpha), height and width.
            Integers from 0 to 255, bool, or floating from 0 to 1; values outside are clipped.
        dataformats: the order of its axes: "CHW", "HWC", "HW", or "NCHW" and the like for a batch, drawn as a grid.

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is not Unicode text, or the shape does not fit `dataformats`.
        ImportError: Pillow is not installed.

    >>> picture = image("noise", np.zeros((3, 4, 5))).value[0].image
    >>> picture.height, picture.width, picture.encoded_image_string[1:4]
    (4, 5, b'PNG')
    """
    if isinstance(dataformats, str) and "N" in dataformats.upper():
        return images(tag, img_tensor, dataformats)
    return _summary(tag, pictures.as_pixels(img_tensor, dataformats, "HWC"))


def images(tag: str, img_tensor: Any, dataformats: str = "NCHW") -> Summary:
    """A Summary of a batch of pictures, drawn side by side, eight in a row.

    Args:
        tag: the tag.
        img_tensor: array [N, C, H, W]: N pictures of 1 to 4 channels; integers from 0 to 255, bool, or floating from 0
            to 1; values outside are clipped. Or a list of pictures of the same size.
        dataformats: the order of the axes, such as "NHWC"; for a list, that of one picture, such as "CHW".

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is not Unicode text, or the shape does not fit `dataformats`.
        ImportError: Pillow is not installed.

    >>> grid = images("digits", np.zeros((16, 1, 8, 8))).value[0].image
    >>> grid.height, grid.width
    (16, 64)
    """
    return _summary(tag, pictures.grid(pictures.batch(img_tensor, dataformats)))


def image_with_boxes(
    tag: str,
    img_tensor: Any,
    box_tensor: Any,
    rescale: float | str = 1,
    dataformats: Any = "CHW",
    labels: Sequence[str] | str | None = None,
) -> Summary:
    """A Summary of one picture with boxes drawn on it.

    Args:
        tag: the tag.
        img_tensor: as in `image`; the boxes are in pixels of the grid, if it is a batch.
        box_tensor: [n, 4]: left, top, right and bottom of each box, in pixels. Further columns are left out, with a
            warning once per tag.
        rescale: the factor for height and width.
        dataformats: as in `image`.
        labels: a text for each box. If their numbers differ, the first ones are drawn, with a warning once per tag.

    Raises:
        TypeError: the tag is not a string, or an array is not numeric.
        ValueError: the tag is not Unicode text, or a shape does not fit.
        ImportError: Pillow is not installed.

    >>> picture = image_with_boxes("found", np.zeros((3, 60, 80)), [[5, 5, 40, 30]], labels=["cat"])
    >>> picture.value[0].image.width
    80

    References: tensorboardX has `dataformats` and `labels` before `rescale`; a string for `rescale` is taken that way.
    """
    if isinstance(rescale, str):
        labels = labels if isinstance(dataformats, str) else dataformats
        rescale, dataformats = 1, rescale
    scale = as_float(rescale, "rescale")
    if not 0 < scale < math.inf:
        raise ValueError(f"rescale must be positive, got {scale:g}")
    boxes = as_array(box_tensor, "box_tensor")
    if not boxes.size:
        boxes = boxes.reshape(0, _BOX)
    if boxes.ndim != 2 or boxes.shape[1] < _BOX:  # noqa: PLR2004
        raise ValueError(f"box_tensor must have shape [n, 4], got {boxes.shape}")
    if boxes.shape[1] > _BOX:
        warn_odd("image", tag, "has boxes of more than 4 columns", "the first 4 are drawn")
    boxes = boxes[:, :_BOX]
    texts = [labels] if isinstance(labels, str) else None if labels is None else list(labels)
    if texts is not None and len(texts) != len(boxes):
        got = f"{counted(len(texts), 'label')} for {len(boxes)}"
        warn_odd("image", tag, "has more or fewer labels than boxes", "the first boxes are labelled", got)
    pixels = pictures.grid(pictures.batch(img_tensor, dataformats))
    return _summary(tag, pictures.draw_boxes(pixels, boxes, texts), scale)


def figure(tag: str, figure: Any, close: bool = True) -> Summary:
    """A Summary of a matplotlib figure, or of several side by side.

    Args:
        tag: the tag.
        figure: a matplotlib Figure, or a list of them, all of the same size.
        close: whether to close the figures in pyplot.

    Raises:
        TypeError: `figure` is not a figure.
        ValueError: the figures differ in size, or the list is empty.
        ImportError: matplotlib or Pillow is not installed.

    >>> from matplotlib.figure import Figure
    >>> picture = figure("empty", Figure(figsize=(4, 3), dpi=100)).value[0].image
    >>> picture.height, picture.width
    (300, 400)
    """
    several = figure if isinstance(figure, list) else [figure]
    if not several:
        raise ValueError("figure must be a matplotlib Figure, or a list of them, got an empty list")
    drawn = list(map(_drawn, several))
    if len({pixels.shape for pixels in drawn}) != 1:
        raise ValueError(f"figures must be of the same size, got {[pixels.shape[:2] for pixels in drawn]} pixels")
    if close:
        pyplot = needs("matplotlib.pyplot", "images")
        for shown in several:
            pyplot.close(shown)
    return _summary(tag, pictures.grid(np.stack(drawn)))


def video(tag: str, vid_tensor: Any, fps: float = 4, dataformats: str = "NTCHW") -> Summary:
    """A Summary of videos, side by side, stored as one animated GIF.

    Args:
        tag: the tag.
        vid_tensor: [N, T, C, H, W]: batch, frames, channels, height, width; values as in `image`.
        fps: frames per second, positive.
        dataformats: the order of its axes, if it is another; an axis of length 1 may be missing.

    Raises:
        TypeError: the tag is not a string, or the array is not numeric.
        ValueError: the tag is not Unicode text, `fps` is not positive, or the shape is wrong.
        ImportError: Pillow is not installed.

    >>> video("agent", np.zeros((1, 8, 3, 24, 32)), fps=8).value[0].image.encoded_image_string[:3]
    b'GIF'
    """
    fps = as_float(fps, "fps")
    if not 0 < fps < math.inf:
        raise ValueError(f"fps must be positive, got {fps:g}")
    videos = pictures.as_pixels(vid_tensor, dataformats, "NTCHW", "vid_tensor")
    if not videos.size:
        raise ValueError(f"vid_tensor must have at least one frame, got shape {videos.shape}")
    pixels = pictures.frames(videos)
    return _encoded(tag, pixels[0], pictures.encode_gif(pixels, fps), pixels.shape[3])


def _drawn(figure: Any) -> NDArray[np.uint8]:
    """uint8[H, W, 3]: the rendered figure."""
    agg = needs("matplotlib.backends.backend_agg", "images")
    if not hasattr(figure, "savefig") or not hasattr(figure, "set_canvas"):
        raise TypeError(f"figure must be a matplotlib Figure, or a list of them, got {type(figure).__name__}")
    canvas = agg.FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3]


def _summary(tag: str, pixels: NDArray[np.uint8], scale: float = 1) -> Summary:
    if not pixels.size:
        raise ValueError(f"a picture must have at least one pixel, got shape {pixels.shape}")
    encoded, channels = pictures.encode_png(pixels, scale)
    return _encoded(tag, pixels, encoded, channels)


def _encoded(tag: str, pixels: NDArray[np.uint8], encoded: bytes, channels: int) -> Summary:
    check_tag(tag)
    height, width = pixels.shape[:2]
    picture = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=encoded)
    return Summary(value=[Summary.Value(tag=tag, image=picture)])
