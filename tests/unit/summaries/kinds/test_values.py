"""What each kind of summary holds, for values as people have them."""

import io
import wave

import ml_dtypes
import numpy as np
import pytest
from PIL import Image

import summaries


def histo(*args, **options):
    return summaries.histogram("h", *args, **options).value[0].histo


def test_every_element_counts_once():
    values = np.random.default_rng(0).normal(size=5000)
    for bins in ("tensorflow", "auto", 7, [-0.5, 0.0, 0.5], [5.0, 6.0]):
        proto = histo(values, bins)
        assert (sum(proto.bucket), proto.num) == (5000, 5000)
        assert len(proto.bucket) == len(proto.bucket_limit)
        assert list(proto.bucket_limit) == sorted(proto.bucket_limit)
        assert proto.bucket_limit[-1] >= proto.max == values.max()


@pytest.mark.parametrize("value", [0.0, -3.5, 1e-30, 1e30, -1e300])
@pytest.mark.parametrize("bins", ["tensorflow", "auto", "fd", 5])
def test_constant_values(value, bins):
    proto = histo(np.full(100, value), bins)
    assert (sum(proto.bucket), proto.min, proto.max) == (100, value, value)


@pytest.mark.parametrize("bins", ["tensorflow", "auto", 5])
def test_values_that_are_no_numbers(bins):
    nothing = histo(np.full(10, np.nan), bins)
    assert (nothing.num, sum(nothing.bucket), nothing.min, nothing.max) == (0, 0, 0, 0)
    some = histo(np.array([np.nan, 1.0, 2.0, np.inf, -np.inf]), bins)
    assert (some.num, sum(some.bucket), some.min, some.max) == (4, 4, 1, 2)
    all_infinite = histo(np.array([np.inf, np.inf, -np.inf]), bins)
    assert (sum(all_infinite.bucket), all_infinite.min, all_infinite.max) == (3, -1e20, 1e20)


@pytest.mark.parametrize("rule", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt"])
@pytest.mark.filterwarnings("ignore:The number of bins estimated may be suboptimal")  # NumPy's, of its own 'stone'
def test_far_outliers_do_not_ask_for_billions_of_bins(rule):
    values = np.concatenate((np.random.default_rng(0).normal(size=1000) * 1e-6, [1e9]))
    proto = histo(values, rule)
    assert sum(proto.bucket) == 1001
    assert len(proto.bucket) <= 4097


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, bool, np.float16, ml_dtypes.bfloat16])
def test_histograms_of_every_dtype(dtype):
    proto = histo(np.array([0, 1, 1, 0, 1]).astype(dtype))
    assert (proto.num, proto.sum, proto.sum_squares, proto.max) == (5, 3, 3, 1)


def test_bins_are_joined_to_at_most_so_many():
    values = np.random.default_rng(0).normal(size=1000)
    for most in (1, 2, 10, 1000):
        proto = histo(values, max_bins=most)
        assert sum(proto.bucket) == 1000
        assert len(proto.bucket) <= most + 1  # and the empty one on the left


@pytest.mark.parametrize(
    ("tensor", "pixel"),
    [
        (np.full((3, 2, 2), 200, np.uint8), (200, 200, 200)),
        (np.full((3, 2, 2), 0.5, np.float32), (127, 127, 127)),
        (np.full((3, 2, 2), 0.5, np.float16), (127, 127, 127)),
        (np.full((3, 2, 2), 7.5, np.float64), (255, 255, 255)),
        (np.full((3, 2, 2), np.nan), (0, 0, 0)),
        (np.full((3, 2, 2), 300, np.int64), (255, 255, 255)),
        (np.full((3, 2, 2), True), (255, 255, 255)),
        (np.full((1, 2, 2), 9, np.uint8), (9, 9, 9)),
        (np.full((2, 2, 2), 9, np.uint8), (9, 9, 9)),
        (np.full((4, 2, 2), 9, np.uint8), (9, 9, 9)),
    ],
)
def test_pixels_of_every_dtype(tensor, pixel):
    encoded = summaries.image("i", tensor).value[0].image.encoded_image_string
    assert Image.open(io.BytesIO(encoded)).convert("RGB").getpixel((0, 0)) == pixel


def test_a_batch_is_drawn_eight_in_a_row():
    picture = summaries.images("i", np.zeros((9, 3, 4, 5))).value[0].image
    assert (picture.height, picture.width, picture.colorspace) == (8, 40, 3)


def test_boxes_have_labels_and_are_rescaled():
    summary = summaries.image_with_boxes("i", np.zeros((3, 40, 60)), [[5, 5, 30, 30]], 0.5, labels=["cat"])
    drawn = Image.open(io.BytesIO(summary.value[0].image.encoded_image_string))
    assert drawn.size == (30, 20)
    assert max(band[1] for band in drawn.getextrema()) > 100


def test_samples_beyond_full_scale_are_clipped_with_a_warning():
    with pytest.warns(UserWarning, match="audio 'a' has samples beyond -1 to 1, which is full scale: they are clipped"):
        sound = summaries.audio("a", [[0.0, 2.0, -2.0, np.nan]], 8000).value[0].audio
    with wave.open(io.BytesIO(sound.encoded_audio_string)) as file:
        assert file.getparams()[:4] == (1, 2, 8000, 4)
        assert np.frombuffer(file.readframes(4), "<i2").tolist() == [0, 32767, -32767, 0]


def test_a_perfect_classifier():
    curve = summaries.pr_curve("p", [1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], 5, [1.0, 2.0, 1.0, 1.0]).value[0].tensor
    tp, fp, tn, fn, precision, recall = np.frombuffer(curve.tensor_content, np.float32).reshape(6, 5)
    assert tp.tolist() == [3] * 5
    assert fp.tolist() == [2, 0, 0, 0, 0]
    assert (tn + fp).tolist() == [2] * 5
    assert (fn.tolist(), recall.tolist()) == ([0] * 5, [1] * 5)
    assert precision.tolist() == pytest.approx([0.6, 1, 1, 1, 1])


def test_bools_stay_bools_among_hyperparameters():
    given = {"nesterov": np.True_, "lr": np.float32(0.5), "layers": 3, "name": "a", "none": None}
    summary = summaries.hparams(given, {"loss": 1.0}, {"layers": [1, 2, 3]})
    content = summaries.wire.pb.HParamsPluginData.FromString(summary.value[1].metadata.plugin_data.content)
    kinds = {name: value.WhichOneof("kind") for name, value in content.session_start_info.hparams.items()}
    assert kinds == {
        "nesterov": "bool_value",
        "lr": "number_value",
        "layers": "number_value",
        "name": "string_value",
    }


@pytest.mark.parametrize(
    "dtype",
    ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16", ">f4", ">i8"],
)
def test_tensors_keep_their_dtype(dtype):
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.util.tensor_util import make_ndarray

    array = np.arange(6).reshape(2, 3).astype(dtype)
    ours = summaries.tensor("t", array).value[0].tensor
    theirs = make_ndarray(TensorProto.FromString(ours.SerializeToString()))
    assert theirs.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(theirs, array)
