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
    "two channels": (
        summaries.audio,
        ("a", np.zeros((2, 9))),
        ValueError,
        "snd_tensor must be one channel of samples, got an array of shape (2, 9)",
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
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def test_samples_beyond_full_scale_are_clipped_with_a_warning():
    with pytest.warns(UserWarning, match=r"^audio 'a' has samples beyond -1 to 1 \(full scale\), which are clipped$"):
        sound = summaries.audio("a", [[0.0, 2.0, -2.0, np.nan]], 8000).value[0].audio
    with wave.open(io.BytesIO(sound.encoded_audio_string)) as file:
        assert file.getparams()[:4] == (1, 2, 8000, 4)
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [0, 32767, -32767, 0]
