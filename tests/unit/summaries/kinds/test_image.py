"""Image summaries: pixels, batches, boxes, figures and videos, and what is refused, word for word."""

import io

import numpy as np
import pytest

import summaries

Image = pytest.importorskip("PIL.Image", reason="an extra")

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
        "img_tensor must have one axis for each letter of dataformats, got shape (3, 4, 5) with dataformats 'HW'",
    ),
    "seven channels": (
        summaries.image,
        ("a", np.zeros((7, 4, 5))),
        ValueError,
        "img_tensor must have 1 to 4 channels, got shape (7, 4, 5) with dataformats 'CHW'",
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
    "no figure": (
        summaries.figure,
        ("a", PICTURE),
        TypeError,
        "figure must be a matplotlib Figure, or a list of them, got ndarray",
    ),
    "an empty list of figures": (
        summaries.figure,
        ("a", []),
        ValueError,
        "figure must be a matplotlib Figure, or a list of them, got an empty list",
    ),
    "a video of four axes": (
        summaries.video,
        ("a", np.zeros((2, 3, 4, 5))),
        ValueError,
        "vid_tensor must have one axis for each letter of dataformats, got shape (2, 3, 4, 5) with dataformats 'NTCHW'",
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
    "no layout of a picture": (
        summaries.image,
        ("a", PICTURE, None),
        TypeError,
        "dataformats must be a string, got NoneType: None",
    ),
    "no frames a second": (
        summaries.video,
        ("a", np.zeros((1, 2, 3, 4, 5)), "fast"),
        TypeError,
        "fps must be a number, got 'fast'",
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
        (np.full((3, 2, 2), 1 - 1e-9), (254, 254, 254)),  # as tensorboardX, which does not round to float32 before
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


def pixels_of(summary):
    return np.asarray(Image.open(io.BytesIO(summary.value[0].image.encoded_image_string)))


def test_a_list_of_pictures_in_the_order_of_one():
    pictures = [np.full((3, 4, 5), level, np.float32) for level in (0.2, 0.8)]
    want = summaries.images("a", np.stack(pictures))
    assert summaries.images("a", pictures, "CHW") == want
    assert summaries.images("a", [picture.transpose(1, 2, 0) for picture in pictures], "HWC") == want
    assert summaries.images("a", pictures) == want
    text = r"the pictures in img_tensor must have the same shape, got \[\(2, 5, 3\), \(4, 5, 3\)\]"
    with pytest.raises(ValueError, match=f"^{text}$"):
        summaries.images("a", [PICTURE, PICTURE[:, :2]], "CHW")


def test_complex_pictures_lose_their_imaginary_parts():
    with pytest.warns(np.exceptions.ComplexWarning):
        got = summaries.image("a", PICTURE + 0.5 + 1j)
    assert got == summaries.image("a", PICTURE + 0.5)


def test_the_axes_of_a_video_in_another_order():
    video = np.random.default_rng(0).integers(0, 256, (2, 3, 3, 4, 5)).astype(np.uint8)
    want = summaries.video("a", video)
    assert summaries.video("a", video.transpose(0, 1, 3, 4, 2), 4, "NTHWC") == want
    assert summaries.video("a", video.transpose(1, 0, 2, 3, 4), dataformats="tnchw") == want


def test_no_boxes_leave_the_picture_as_it_is():
    assert summaries.image_with_boxes("a", PICTURE, []) == summaries.image("a", PICTURE)


def test_further_columns_of_boxes_are_left_out():
    box = [[0, 0, 3, 2, 0.9]]
    text = "image 'scored' has boxes of more than 4 columns: the first 4 are drawn; warned once per tag"
    with pytest.warns(UserWarning, match=f"^{text}$"):
        got = summaries.image_with_boxes("scored", PICTURE, box)
    assert got == summaries.image_with_boxes("scored", PICTURE, np.array(box)[:, :4])


def test_boxes_on_a_grid():
    batch = np.zeros((2, 3, 10, 10))
    on_grid = pixels_of(summaries.image_with_boxes("a", batch, [[12, 2, 18, 8]], dataformats="NCHW"))
    assert on_grid.shape == (10, 20, 3)
    assert on_grid[5, 12].tolist() == [255, 0, 0]


BOXES = [[2, 2, 40, 30], [44, 2, 90, 30]]


@pytest.mark.parametrize("labels", [["cat"], ["cat", "dog", "owl"]], ids=["fewer", "more"])
def test_labels_for_some_of_the_boxes(labels):
    picture, tag = np.zeros((3, 40, 100)), f"{len(labels)} labels"
    counts = "1 label" if len(labels) == 1 else "3 labels"
    text = (
        f"image {tag!r} has more or fewer labels than boxes, such as {counts} for 2: the first boxes are labelled; "
        "warned once per tag"
    )
    with pytest.warns(UserWarning, match=f"^{text}$"):
        got = summaries.image_with_boxes(tag, picture, BOXES, labels=labels)
    whole = summaries.image_with_boxes(tag, picture, BOXES, labels=["cat", "dog"])
    left = np.s_[:, :42]
    np.testing.assert_array_equal(pixels_of(got)[left], pixels_of(whole)[left])
    assert (len(labels) > 2) == (got == whole)


@pytest.mark.parametrize("background", [0.0, 1.0, (1.0, 0.0, 0.0)], ids=["black", "white", "red"])
def test_labels_are_dark_on_light(background):
    picture = np.zeros((3, 40, 100)) + np.reshape(background, (-1, 1, 1))
    got = pixels_of(summaries.image_with_boxes("a", picture, BOXES, labels=["cat", "dog"])).astype(int)
    for left, _, _, bottom in BOXES:
        label = got[bottom - 10 : bottom - 1, left + 2 : left + 16]
        brightness = label.sum(axis=2)
        assert (brightness < 150).mean() > 0.04, "ink"
        assert (brightness == 765).mean() > 0.4, "paper"


def test_a_label_stays_inside_the_picture():
    got = pixels_of(
        summaries.image_with_boxes("a", np.zeros((3, 40, 100)), [[90, -30, 99, -20]], labels=["at the edge"])
    )
    assert (got[2:10].sum(axis=2) == 765).mean() > 0.2
    assert not got[20:].any()


def test_tensorboardx_has_the_formats_and_labels_before_the_scale():
    picture = np.zeros((40, 100, 3))
    want = summaries.image_with_boxes("a", picture, BOXES, 1, "HWC", ["cat", "dog"])
    assert summaries.image_with_boxes("a", picture, BOXES, "HWC", ["cat", "dog"]) == want
    assert summaries.image_with_boxes("a", picture, BOXES, "HWC", labels=["cat", "dog"]) == want
