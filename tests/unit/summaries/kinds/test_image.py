"""Image summaries: pixels, batches, boxes, figures and videos, and what is refused, word for word."""

import io

import numpy as np
import pytest
from PIL import Image

import summaries

PICTURE = np.zeros((3, 4, 5), np.float32)
REFUSED = {
    "a letter that is no axis": (
        summaries.image,
        ("a", PICTURE, "CHX"),
        ValueError,
        "dataformats must be letters of 'HWC', each once, with H and W, got 'CHX'",
    ),
    "a letter twice": (
        summaries.image,
        ("a", PICTURE, "HHW"),
        ValueError,
        "dataformats must be letters of 'HWC', each once, with H and W, got 'HHW'",
    ),
    "an axis without a letter": (
        summaries.image,
        ("a", PICTURE, "HW"),
        ValueError,
        "img_tensor must have one axis for each letter of 'HW', got shape (3, 4, 5)",
    ),
    "seven channels": (
        summaries.image,
        ("a", np.zeros((7, 4, 5))),
        ValueError,
        "a picture must have 1 to 4 channels, got 7",
    ),
    "no pixel": (
        summaries.image,
        ("a", np.zeros((3, 0, 5))),
        ValueError,
        "a picture must have at least one pixel, got shape (0, 5, 3)",
    ),
    "boxes of three": (
        summaries.image_with_boxes,
        ("a", PICTURE, np.zeros((2, 3))),
        ValueError,
        "box_tensor must have shape [n, 4], got (2, 3)",
    ),
    "a label for two boxes": (
        summaries.image_with_boxes,
        ("a", PICTURE, np.zeros((2, 4)), 1, "CHW", ["x"]),
        ValueError,
        "labels must contain one label for each of the 2 boxes, got 1",
    ),
    "no figure": (
        summaries.figure,
        ("a", PICTURE),
        TypeError,
        "figure must be a matplotlib Figure, or a list of them, got ndarray",
    ),
    "a video of four axes": (
        summaries.video,
        ("a", np.zeros((2, 3, 4, 5))),
        ValueError,
        "vid_tensor must have one axis for each letter of 'NTCHW', got shape (2, 3, 4, 5)",
    ),
    "a video that stands still": (
        summaries.video,
        ("a", np.zeros((1, 2, 3, 4, 5)), 0),
        ValueError,
        "fps must be positive, got 0",
    ),
    "a video without frames": (
        summaries.video,
        ("a", np.zeros((1, 0, 3, 4, 5))),
        ValueError,
        "vid_tensor must have at least one frame, got shape (1, 0, 3, 4, 5)",
    ),
    "complex values": (
        summaries.image,
        ("a", PICTURE * 1j),
        TypeError,
        "img_tensor must be an array of real numbers, got ndarray of dtype complex64",
    ),
    "no layout of a picture": (
        summaries.image,
        ("a", PICTURE, None),
        TypeError,
        "dataformats must be a string, got NoneType: None",
    ),
    "no frames a second": (
        summaries.video,
        ("a", np.zeros((1, 2, 3, 4, 5)), "4"),
        TypeError,
        "fps must be a number, got '4'",
    ),
    "no scale": (
        summaries.image_with_boxes,
        ("a", PICTURE, [[0, 0, 1, 1]], 0),
        ValueError,
        "rescale must be positive, got 0",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


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
