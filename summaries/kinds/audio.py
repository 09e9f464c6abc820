"""Audio summaries: one channel of samples, as a WAV. Pure (no I/O)."""

from __future__ import annotations

import io
import warnings
import wave
from typing import Any

import numpy as np

from summaries.values import as_array, as_count, check_tag
from summaries.wire.pb import Summary

__all__ = ["audio"]

_MAX_RATE = (2**32 - 1) // 2  # WAV stores bytes per second in 32 bits, and a sample has two bytes
_FULL_SCALE = np.iinfo(np.int16).max


def audio(tag: str, snd_tensor: Any, sample_rate: int = 44100) -> Summary:
    """A Summary of a sound, stored as 16-bit PCM.

    Args:
        tag: the tag.
        snd_tensor: samples [n], possibly with further axes of length 1; from -1 to 1. Values outside are clipped with
            a warning; NaN becomes silence.
        sample_rate: samples per second.

    Raises:
        TypeError: the tag is not a string, the samples are not real numbers, or the sample rate is not an integer.
        ValueError: the tag is empty, the sample rate is not positive or too large for a WAV, or the samples are not
            one channel.

    >>> audio("beep", np.sin(np.arange(800) / 4), sample_rate=8000).value[0].audio.length_frames
    800
    """
    check_tag(tag)
    rate = as_count(sample_rate, "sample_rate", most=_MAX_RATE)
    samples = as_array(snd_tensor, "snd_tensor").astype(np.float32)
    if sum(length != 1 for length in samples.shape) > 1 or not samples.ndim:
        raise ValueError(f"snd_tensor must be one channel of samples, got an array of shape {np.shape(snd_tensor)}")
    samples = samples.reshape(-1)
    if np.any(np.abs(samples) > 1):
        warnings.warn(f"audio {tag!r} has samples beyond -1 to 1 (full scale), which are clipped", stacklevel=2)
    pcm = (np.nan_to_num(samples, nan=0.0).clip(-1, 1) * _FULL_SCALE).astype("<i2")
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(pcm.tobytes())
        encoded = buffer.getvalue()
    sound = Summary.Audio(
        sample_rate=rate,
        num_channels=1,
        length_frames=len(pcm),
        encoded_audio_string=encoded,
        content_type="audio/wav",
    )
    return Summary(value=[Summary.Value(tag=tag, audio=sound)])
