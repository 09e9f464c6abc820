"""Audio summaries: the samples of the WAV file, and what is refused, word for word."""

import io
import wave

import numpy as np
import pytest

import summaries

HALF = [0.5, 0.5]
REFUSED = {
    "a negative rate": (
        summaries.audio,
        ("a", HALF, -1),
        ValueError,
        "sample_rate must be positive, got -1",
    ),
    "channels before samples": (
        summaries.audio,
        ("a", np.zeros((2, 9))),
        ValueError,
        "snd_tensor must be one channel of samples, or two in the shape [n, 2], got the shape (2, 9)",
    ),
    "a rate that is no number": (
        summaries.audio,
        ("a", HALF, "fast"),
        TypeError,
        "sample_rate must be an integer, got str: 'fast'",
    ),
    "a rate beyond what a WAV can say": (
        summaries.audio,
        ("a", HALF, 2**40),
        ValueError,
        "sample_rate must be at most 2147483647, got 1099511627776",
    ),
    "a rate beyond what a WAV can say in stereo": (
        summaries.audio,
        ("a", np.zeros((9, 2)), 2**30),
        ValueError,
        "sample_rate must be at most 1073741823, got 1073741824",
    ),
    "a rate that is not finite": (
        summaries.audio,
        ("a", HALF, float("inf")),
        TypeError,
        "sample_rate must be an integer, got float: inf",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def test_samples_beyond_full_scale_are_clipped_with_a_warning():
    text = r"^audio 'loud' has samples beyond -1 to 1 \(full scale\): these are clipped; warned once per tag$"
    with pytest.warns(UserWarning, match=text):
        sound = summaries.audio("loud", [[0.0, 2.0, -2.0, np.nan]], 8000).value[0].audio
    with wave.open(io.BytesIO(sound.encoded_audio_string)) as file:
        assert file.getparams()[:4] == (1, 2, 8000, 4)
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [0, 32767, -32767, 0]


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (6,), (1, 6, 1)])
def test_one_channel_in_any_shape(shape):
    assert summaries.audio("a", np.zeros(shape), 8000).value[0].audio.num_channels == 1


def test_stereo_keeps_each_channel():
    left, right = np.linspace(0, 1, 5), np.linspace(0, -1, 5)
    sound = summaries.audio("a", np.stack([left, right], 1), 8000).value[0].audio
    assert (sound.num_channels, sound.length_frames) == (2, 5)
    with wave.open(io.BytesIO(sound.encoded_audio_string)) as file:
        assert file.getparams()[:4] == (2, 2, 8000, 5)
        frames = np.frombuffer(file.readframes(5), "<i2").reshape(5, 2)
    assert (frames[-1].tolist(), frames[2].tolist()) == ([32767, -32767], [16383, -16383])


def test_a_rate_between_two_integers_is_rounded():
    assert summaries.audio("a", HALF, 22050.5).value[0].audio.sample_rate == 22050
