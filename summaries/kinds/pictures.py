"""Encodes pixels of any layout as pictures. Pure (no I/O).

Pillow is imported on first use.
"""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.optional import needs
from summaries.values import as_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from numpy.typing import NDArray

__all__ = ["as_pixels", "batch", "draw_boxes", "encode_gif", "encode_png", "frames", "grid"]

_MAX_DURATION = 655_350  # milliseconds: the longest that a GIF can store
_GREY, _GREY_ALPHA, _RGB, _RGBA = 1, 2, 3, 4
_RED, _WHITE, _BLACK = (255, 0, 0), (255, 255, 255), (0, 0, 0)
_MARGIN = 2  # pixels around a label
_MODES = {_GREY: "L", _GREY_ALPHA: "LA", _RGB: "RGB", _RGBA: "RGBA"}


def as_pixels(tensor: Any, dataformats: str, allowed: str, name: str = "img_tensor") -> NDArray[np.uint8]:
    """uint8 pixels, with the axes in the order of `allowed`.

    Args:
        tensor: an array: integers from 0 to 255, bool, or floating from 0 to 1. Values outside are clipped.
        dataformats: the order of its axes, one letter each; an axis of `allowed` that is missing gets length 1.
        allowed: the letters wanted, such as "HWC".
        name: the argument's name, for errors.

    Raises:
        TypeError: the array is not numeric, or `dataformats` is not a string.
        ValueError: a letter is not allowed, there is not one letter for each axis, or there are no or over 4 channels.
    """
    array = as_array(tensor, name)
    if not isinstance(dataformats, str):
        raise TypeError(f"dataformats must be a string, got {type(dataformats).__name__}: {dataformats!r}")
    letters = dataformats.upper()
    if len(set(letters)) != len(letters) or not set(letters) <= set(allowed) or not {"H", "W"} <= set(letters):
        raise ValueError(f"dataformats must be letters of {allowed!r}, each once, with H and W, got {dataformats!r}")
    got = f"shape {array.shape} with dataformats {dataformats!r}"
    if len(letters) != array.ndim:
        raise ValueError(f"{name} must have one axis for each letter of dataformats, got {got}")
    if "C" in letters and array.shape[letters.index("C")] not in _MODES:
        raise ValueError(f"{name} must have 1 to 4 channels, got {got}")
    missing = [letter for letter in allowed if letter not in letters]
    array = array.reshape(*array.shape, *(1 for _ in missing))
    letters += "".join(missing)
    return _to_bytes(array.transpose([letters.index(letter) for letter in allowed]))


def batch(tensor: Any, dataformats: str) -> NDArray[np.uint8]:
    """uint8 pixels [N, H, W, C] of one array, or of a list of pictures of the same size, each in `dataformats`.

    Raises:
        TypeError: an array is not numeric, or `dataformats` is not a string.
        ValueError: the shape does not fit `dataformats`, or the pictures differ in shape.
    """
    if not isinstance(tensor, (list, tuple)) or "N" in str(dataformats).upper():
        return as_pixels(tensor, dataformats, "NHWC")
    pixels = [as_pixels(picture, dataformats, "HWC", f"img_tensor[{i}]") for i, picture in enumerate(tensor)]
    shapes = {picture.shape for picture in pixels}
    if len(shapes) != 1:
        raise ValueError(f"the pictures in img_tensor must have the same shape, got {sorted(shapes)}")
    return np.stack(pixels)


def _to_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype == np.uint8:
        return array
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(255)
    if array.dtype.kind == "f":
        wide = array if array.dtype.itemsize > np.float32().itemsize else array.astype(np.float32)
        scaled: NDArray[np.uint8] = (np.nan_to_num(wide) * wide.dtype.type(255)).clip(0, 255).astype(np.uint8)
        return scaled
    return array.clip(0, 255).astype(np.uint8)


def grid(pixels: NDArray[np.uint8], columns: int = 8) -> NDArray[np.uint8]:
    """One picture [H, W, C] of a batch [N, H, W, C]: rows of up to `columns`; unused cells are black.

    >>> grid(np.zeros((9, 4, 5, 3), np.uint8)).shape
    (8, 40, 3)
    """
    count, height, width, channels = pixels.shape
    columns = min(count, columns)
    rows = math.ceil(count / columns) if count else 0
    canvas = np.zeros((rows * columns, height, width, channels), np.uint8)
    canvas[:count] = pixels
    tiled = canvas.reshape(rows, columns, height, width, channels).swapaxes(1, 2)
    return tiled.reshape(rows * height, columns * width, channels)


def frames(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The frames [T, H, W, C] of videos [N, T, C, H, W], tiled to a near-square of a power of two, as torch does."""
    count = len(pixels)
    rows = 2 ** ((max(count, 1).bit_length() - 1) // 2)
    padded = 1 << (count - 1).bit_length()
    filled = np.concatenate((pixels, np.zeros((padded - count, *pixels.shape[1:]), np.uint8)))
    return np.stack([grid(frame, padded // rows) for frame in filled.transpose(1, 0, 3, 4, 2)])


def encode_png(pixels: NDArray[np.uint8], scale: float = 1.0) -> tuple[bytes, int]:
    """The PNG of pixels [H, W, C], C from 1 to 4, resized by `scale`, and its number of channels: grey becomes RGB."""
    image = _picture(pixels)
    if scale != 1:
        size = max(1, int(image.width * scale)), max(1, int(image.height * scale))
        image = image.resize(size, _pillow().Resampling.LANCZOS)
    with io.BytesIO() as buffer:
        image.save(buffer, format="PNG")
        return buffer.getvalue(), len(image.getbands())


def encode_gif(pixels: NDArray[np.uint8], fps: float) -> bytes:
    """The animated GIF of frames [T, H, W, C], looping at `fps` frames per second."""
    first, *rest = (_picture(frame) for frame in pixels)
    with io.BytesIO() as buffer:
        # GIF counts hundredths of a second; 0 would mean "as fast as you like".
        duration = min(max(10, round(1000 / fps)), _MAX_DURATION)
        first.save(buffer, format="GIF", save_all=True, append_images=rest, duration=duration, loop=0)
        return buffer.getvalue()


def draw_boxes(
    pixels: NDArray[np.uint8], boxes: NDArray[Any], labels: Sequence[str] | None = None
) -> NDArray[np.uint8]:
    """A copy of the picture [H, W, C] as RGB, with boxes [n, 4] (left, top, right, bottom in pixels) drawn in red.

    The labels, of the first boxes if they are fewer, are black on white, inside at the lower left as in torch.
    """
    drawing = needs("PIL.ImageDraw", "images")
    image = _picture(pixels).convert("RGB")
    pen = drawing.Draw(image)
    for left, top, right, bottom in boxes.tolist():
        pen.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], fill=_RED, width=2)
    for (left, _, _, bottom), label in zip(boxes.tolist(), labels or (), strict=False):  # above every box's lines
        _, _, width, height = pen.textbbox((0, 0), str(label))
        x = max(0, min(left, image.width - width - 2 * _MARGIN))
        y = max(0, min(bottom, image.height) - height - 2 * _MARGIN)
        pen.rectangle((x, y, x + width + 2 * _MARGIN, y + height + 2 * _MARGIN), fill=_WHITE, outline=_RED)
        pen.text((x + _MARGIN, y + _MARGIN), str(label), fill=_BLACK)
    return np.asarray(image)


def _picture(pixels: NDArray[np.uint8]) -> Any:
    channels = pixels.shape[2]
    if channels not in _MODES:
        raise ValueError(f"a picture must have 1 to 4 channels, got {channels}")
    image = _pillow().fromarray(np.ascontiguousarray(pixels[:, :, 0] if channels == _GREY else pixels))
    return image.convert("RGB") if channels == _GREY else image


def _pillow() -> ModuleType:
    return needs("PIL.Image", "images")
