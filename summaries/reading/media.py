"""Images and sounds of one step: their bytes as they are stored, decoded to arrays, and shown in a notebook."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summaries.optional import needs
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Audio", "Images", "image_type", "picture"]

_TYPES = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif"}
_FORMATS = ("PNG", "JPEG", "GIF")  # no other decoder of Pillow's sees the bytes of a file
_DEEP = ("I", "I;16", "I;16B")  # Pillow's modes for a PNG with 16 bits
_MODES = {"1": "L", "P": "RGBA", "CMYK": "RGB"}
_MOST_SHOWN = 4 << 20  # bytes, in a notebook, which keeps them
_SMALLER = 0.7  # in each direction
_FULL_SCALE = {1: 1 << 7, 2: 1 << 15, 3: 1 << 23, 4: 1 << 31}  # by bytes of a sample


class Images(NamedTuple):
    """Images of one step.

    `np.asarray(images)` and `plt.imshow(images)` take `array`; a notebook shows the images.

    Attributes:
        width: in pixels.
        height: in pixels.
        encoded: each image's bytes, as PNG, JPEG or GIF.
    """

    width: int
    height: int
    encoded: tuple[bytes, ...]

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """Each image decoded: uint8[height, width, channels], and before these the frames of an animated GIF.

        There are 1 to 4 channels: grey, grey and alpha, RGB, RGB and alpha. A grey PNG with 16 bits is uint16.

        Raises:
            ImportError: Pillow is missing; the message says how to install it.
            ValueError: the bytes are no PNG, JPEG or GIF, or are damaged.
        """
        return [_pixels(data) for data in self.encoded]

    @property
    def array(self) -> NDArray[Any]:
        """The image decoded, as in `arrays`; several of the same shape are stacked along a new first axis.

        Raises:
            ImportError: Pillow is missing; the message says how to install it.
            ValueError: there is no image, one cannot be decoded, or several differ in shape.
        """
        arrays = self.arrays
        if len({array.shape for array in arrays}) != 1:
            shapes = ", ".join(str(array.shape) for array in arrays) or "none"
            raise ValueError(f"images of one shape make an array, got the shapes {shapes}: take them from `arrays`")
        return np.stack(arrays) if len(arrays) > 1 else arrays[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.array, dtype)

    @property
    def png(self) -> bytes:
        """The image as PNG: the bytes as they are stored, or converted from JPEG or GIF.

        Raises:
            ImportError: the image is no PNG, and Pillow is missing.
            ValueError: there is not exactly one image, or it cannot be decoded.
        """
        if len(self.encoded) != 1:
            raise ValueError(f"one image makes a PNG, got {len(self.encoded)}: take them from `encoded`")
        data = self.encoded[0]
        if image_type(data) == "png":
            return data
        with io.BytesIO() as buffer:
            _opened(data).save(buffer, format="PNG")
            return buffer.getvalue()

    def __repr__(self) -> str:
        return f"Images({self.width} x {self.height}, {_held(self.encoded, 'image')})"

    def _repr_html_(self) -> str:
        shown = [(data, image_type(data)) for data in self.encoded]
        if sum(map(len, self.encoded)) > _MOST_SHOWN or not all(kind for _, kind in shown):
            return f"<p>{self!r}</p>"
        style = "max-width:100%;margin:0 4px 4px 0"
        return "".join(f'<img style="{style}" src="{_url("image", kind, data)}">' for data, kind in shown)


class Audio(NamedTuple):
    """Clips of one step. A notebook shows a player for each.

    Attributes:
        encoded: each clip's bytes, as WAV in most cases.
        labels: each clip's label, "" if it has none.
    """

    encoded: tuple[bytes, ...]
    labels: tuple[str, ...]

    @property
    def arrays(self) -> list[tuple[NDArray[np.float32], int]]:
        """Each clip decoded: its samples, float32[n, channels] from -1 to 1, and their rate in samples a second.

        Raises:
            ValueError: the bytes are no WAV with PCM samples, or are damaged.
        """
        return [_samples(data) for data in self.encoded]

    def __repr__(self) -> str:
        return f"Audio({_held(self.encoded, 'clip')})"

    def _repr_html_(self) -> str:
        if sum(map(len, self.encoded)) > _MOST_SHOWN:
            return f"<p>{self!r}</p>"
        return "".join(f'<audio controls src="{_url("audio", "wav", data)}"></audio>' for data in self.encoded)


def picture(data: bytes, most: int) -> tuple[bytes, str]:
    """An encoded image of at most so many bytes, and "png", "jpeg" or "gif"; a larger one is made smaller.

    Raises:
        ImportError: it has to be made smaller, and Pillow is missing.
        ValueError: it is no PNG, JPEG or GIF, or cannot be decoded.
    """
    kind = image_type(data)
    if kind and len(data) <= most:
        return data, kind
    image = _opened(data).convert("RGB")
    while len(data) > most:
        image.thumbnail((_SMALLER * image.width, _SMALLER * image.height))
        with io.BytesIO() as buffer:
            image.save(buffer, format="PNG")
            data = buffer.getvalue()
    return data, "png"


def image_type(data: bytes) -> str:
    """Which of "png", "jpeg" and "gif" an image is; "" if it is none of them."""
    return next((kind for start, kind in _TYPES.items() if data.startswith(start)), "")


def _held(encoded: Iterable[bytes], noun: str) -> str:
    sizes = [len(data) for data in encoded]
    return f"{counted(len(sizes), noun)} of {counted(sum(sizes), 'byte')}"


def _url(kind: str, subtype: str, data: bytes) -> str:
    return f"data:{kind}/{subtype};base64,{base64.b64encode(data).decode('ascii')}"


def _opened(data: bytes) -> Any:
    """The image, decoded.

    Raises:
        ImportError: Pillow is missing.
        ValueError: the bytes are no image, or are damaged.
    """
    kind = image_type(data)
    if not kind:
        raise ValueError(f"an image must be a PNG, JPEG or GIF, got {len(data)} bytes that begin with {data[:8]!r}")
    pillow = needs("PIL.Image", "images")
    try:
        image = pillow.open(io.BytesIO(data), formats=_FORMATS)
        image.load()
    except Exception as error:  # its decoders raise whatever damaged bytes lead them to
        raise ValueError(
            f"an image must be whole, got a damaged {kind.upper()} of {len(data)} bytes: {error}"
        ) from error
    return image


def _pixels(data: bytes) -> NDArray[Any]:
    image = _opened(data)
    frames = getattr(image, "n_frames", 1)
    if frames == 1:
        return _channels(image)
    every = []
    for frame in range(frames):
        image.seek(frame)
        every.append(np.asarray(image.convert("RGB")))
    return np.stack(every)


def _channels(image: Any) -> NDArray[Any]:
    """The pixels [height, width, channels]."""
    if image.mode in _DEEP:
        return np.asarray(image).astype(np.uint16)[..., np.newaxis]
    pixels = np.array(image.convert(_MODES[image.mode]) if image.mode in _MODES else image)
    return pixels if pixels.ndim > 2 else pixels[..., np.newaxis]  # noqa: PLR2004 - grey has no axis of channels


def _samples(data: bytes) -> tuple[NDArray[np.float32], int]:
    import wave  # noqa: PLC0415 - importing it takes a millisecond

    try:
        with wave.open(io.BytesIO(data)) as file:
            rate, channels, width = file.getframerate(), file.getnchannels(), file.getsampwidth()
            frames = file.readframes(file.getnframes())
    except (wave.Error, EOFError, ValueError) as error:
        raise ValueError(f"a clip must be a WAV with PCM samples, got {len(data)} bytes: {error}") from error
    frames = frames[: len(frames) // (channels * width) * channels * width]
    raw = np.frombuffer(frames, np.uint8).reshape(-1, width)
    if width == 1:
        levels = raw[:, 0].astype(np.int32) - _FULL_SCALE[1]  # 8 bits are unsigned
    else:
        wide = np.zeros((len(raw), 4), np.uint8)
        wide[:, 4 - width :] = raw  # the highest bytes, so that the sign is in its place
        levels = wide.view("<i4")[:, 0] >> 8 * (4 - width)
    return (levels / np.float64(_FULL_SCALE[width])).astype(np.float32).reshape(-1, channels), rate
