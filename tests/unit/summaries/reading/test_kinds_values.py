"""Values that are no scalars: old and new style decoded, odd shapes, and what is refused."""

import numpy as np
import pytest

from summaries import Summary
from summaries.reading.kinds import KINDS
from summaries.reading.media import Audio, Images
from summaries.wire.tensors import numeric_tensor, string_tensor

Value = Summary.Value

DECODE = {name: kind.decode for name, kind in KINDS.items()}


def histogram(limits, counts, low=-1.0, high=9.0):
    return DECODE["histograms"](Value(histo={"min": low, "max": high, "bucket_limit": limits, "bucket": counts}))


def strings(*items, shape=None):
    return Value(tensor=string_tensor(items, [len(items)] if shape is None else shape))


@pytest.mark.parametrize(
    ("limits", "counts", "want"),
    [
        ([1, 2, 3], [4, 5, 6], [[-1, 1, 4], [1, 2, 5], [2, 9, 6]]),
        ([0, 1, 2, 3], [0, 4, 0, 0], [[-1, 9, 4]]),
        ([0, 1, 2, 3], [0, 4, 0, 5], [[-1, 1, 4], [1, 2, 0], [2, 9, 5]]),
        ([1.7e308, 1.8e308], [0, 0], []),
        ([], [], []),
    ],
)
def test_old_histograms(limits, counts, want):
    """Minimum and maximum in the outer limits' place; empty buckets only in between."""
    got = histogram(limits, counts)
    assert got.shape == (len(want), 3)
    assert got.tolist() == want


def test_a_histogram_without_all_its_counts():
    with pytest.raises(
        ValueError, match=r"^a histogram must have as many limits as counts, got 2 limits and 1 counts$"
    ):
        histogram([1, 2], [1])


def test_new_histograms():
    buckets = np.arange(6.0).reshape(2, 3)
    got = DECODE["histograms"](Value(tensor=numeric_tensor(buckets.astype(np.float32))))
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, buckets)


def test_images():
    old = Value(image={"width": 3, "height": 4, "encoded_image_string": b"PNG"})
    assert DECODE["images"](old) == Images(3, 4, (b"PNG",))
    assert DECODE["images"](strings(b"3", b"4", b"a", b"b")) == Images(3, 4, (b"a", b"b"))
    assert DECODE["images"](strings(b"3", b"4")) == Images(3, 4, ())


def test_audio():
    assert DECODE["audio"](Value(audio={"encoded_audio_string": b"WAV"})) == Audio((b"WAV",), ("",))
    assert DECODE["audio"](strings(b"WAV", shape=[])) == Audio((b"WAV",), ("",))
    assert DECODE["audio"](strings(b"a", b"b")) == Audio((b"a", b"b"), ("", ""))
    assert DECODE["audio"](strings(b"a", b"x", b"b", b"\xff", shape=[2, 2])) == Audio((b"a", b"b"), ("x", "\\xff"))


def test_texts():
    assert DECODE["texts"](strings(b"hi", shape=[])) == "hi"
    assert DECODE["texts"](strings(b"\xff", shape=[1])) == "\\xff"
    several = DECODE["texts"](strings(b"a", b"b", b"c", b"d", shape=[2, 2]))
    assert several.tolist() == [["a", "b"], ["c", "d"]]
    with pytest.raises(ValueError, match=r"^text must be strings, got an array of float32$"):
        DECODE["texts"](Value(tensor=numeric_tensor(np.float32([1]))))


def test_tensors():
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.testing.assert_array_equal(DECODE["tensors"](Value(tensor=numeric_tensor(array))), array, strict=True)
    assert DECODE["tensors"](Value(obsolete_old_style_histogram=b"old")) == b"old"
    assert DECODE["tensors"](Value(tag="nothing")) is None
