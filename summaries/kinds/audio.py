"""Audio summaries: one or two channels of samples, as a WAV. Pure (no I/O)."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.kinds.odd_values import warn_odd
from summaries.values import as_array, as_count, check_tag
from summaries.wire.pb import Summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["audio"]

_MAX_BYTES_A_SECOND = 2**32 - 1  # WAV stores them in 32 bits
_SAMPLE_BYTES = 2
_STEREO = 2  # channels, and axes
_FULL_SCALE = np.iinfo(np.int16).max


def audio(tag: str, snd_tensor: Any, sample_rate: int = 44100) -> Summary:
    """A Summary of a sound, stored as 16-bit PCM.

    Args:
        tag: the tag.
        snd_tensor: samples [n], possibly with further axes of length 1, or in stereo [n, 2]; from -1 to 1. Values
            outside are clipped, with a warning once per tag; NaN becomes silence.
        sample_rate: samples per second; a fraction is rounded, since a WAV stores an integer.

    Raises:
        TypeError: the tag is not a string, the samples are not real numbers, or the sample rate is not a number.
        ValueError: the tag is not Unicode text, the sample rate is not positive or too large for a WAV, or the samples
            are neither one channel nor two.

    >>> audio("beep", np.sin(np.arange(800) / 4), sample_rate=8000).value[0].audio.length_frames
    800
    """
    import wave  # noqa: PLC0415 - importing it takes a millisecond

    check_tag(tag)
    samples = _in_channels(as_array(snd_tensor, "snd_tensor").astype(np.float32))
    channels = samples.shape[1]
    rate = as_count(_whole(sample_rate), "sample_rate", most=_MAX_BYTES_A_SECOND // (_SAMPLE_BYTES * channels))
    if np.any(np.abs(samples) > 1):
        warn_odd("audio", tag, "has samples beyond -1 to 1 (full scale)", "these are clipped")
    pcm = (np.nan_to_num(samples, nan=0.0).clip(-1, 1) * _FULL_SCALE).astype("<i2")
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(_SAMPLE_BYTES)
            file.setframerate(rate)
            file.writeframes(pcm.tobytes())
        encoded = buffer.getvalue()
    sound = Summary.Audio(
        sample_rate=rate,
        num_channels=channels,
        length_frames=len(pcm),
        encoded_audio_string=encoded,
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=sound)])


def _whole(sample_rate: Any) -> Any:
    return round(sample_rate) if isinstance(sample_rate, float) and math.isfinite(sample_rate) else sample_rate


def _in_channels(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """The samples [n, channels]."""
    if samples.ndim and sum(length != 1 for length in samples.shape) <= 1:
        return samples.reshape(-1, 1)
    if samples.ndim != _STEREO or samples.shape[1] != _STEREO:
        raise ValueError(
            f"snd_tensor must be one channel of samples, or two in the shape [n, 2], got the shape {samples.shape}"
        )
    return samples
