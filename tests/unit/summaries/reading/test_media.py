"""Images and sounds of a step: decoded to arrays, as PNG, in a notebook; and what cannot be decoded, word for word."""

import io
import sys
import wave

import numpy as np
import pytest
from browser.html_seen import Seen

from summaries import Audio, Images, SummaryWriter, read_run
from summaries.reading.media import picture

Image = pytest.importorskip("PIL.Image", reason="an extra")


def encoded(pixels, kind="PNG", **options):
    with io.BytesIO() as buffer:
        Image.fromarray(pixels).save(buffer, format=kind, **options)
        return buffer.getvalue()


PIXELS = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
PNG = encoded(PIXELS)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_png_is_its_pixels(channels):
    pixels = np.arange(4 * 5 * channels, dtype=np.uint8).reshape(4, 5, channels)
    image = Images(5, 4, (encoded(pixels[..., 0] if channels == 1 else pixels),))
    assert image.array.dtype == np.uint8
    assert np.array_equal(image.array, pixels)
    assert np.array_equal(np.asarray(image), pixels)
    assert np.asarray(image, np.float32).dtype == np.float32


def test_16_bits_and_one_bit_and_a_palette():
    deep = np.array([[0, 1, 65535]], np.uint16)
    assert np.array_equal(Images(3, 1, (encoded(deep),)).array, deep[..., np.newaxis])
    assert Images(2, 1, (encoded(np.array([[True, False]])),)).array.ravel().tolist() == [255, 0]
    with io.BytesIO() as buffer:
        Image.fromarray(PIXELS).quantize(8).save(buffer, format="PNG")
        assert Images(5, 4, (buffer.getvalue(),)).array.shape == (4, 5, 4)


def test_several_images_are_stacked():
    images = Images(5, 4, (PNG, PNG))
    assert images.array.shape == (2, 4, 5, 3)
    assert [array.shape for array in images.arrays] == [(4, 5, 3)] * 2


def test_an_animation_has_frames():
    frames = [Image.fromarray(np.full((4, 5, 3), level, np.uint8)) for level in (0, 128, 255)]
    with io.BytesIO() as buffer:
        frames[0].save(buffer, format="GIF", save_all=True, append_images=frames[1:])
        video = Images(5, 4, (buffer.getvalue(),))
    assert video.array.shape == (3, 4, 5, 3)
    assert video.array[:, 0, 0, 0].tolist() == pytest.approx([0, 128, 255], abs=4)


def test_as_png():
    assert Images(5, 4, (PNG,)).png == PNG
    converted = Images(5, 4, (encoded(PIXELS, "JPEG"),)).png
    assert Image.open(io.BytesIO(converted)).format == "PNG"


@pytest.mark.parametrize(
    ("images", "ask", "told"),
    [
        (Images(5, 4, (PNG, PNG)), "png", r"^one image makes a PNG, got 2: take them from `encoded`$"),
        (Images(5, 4, ()), "png", r"^one image makes a PNG, got 0: take them from `encoded`$"),
        (
            Images(5, 4, ()),
            "array",
            r"^images of one shape make an array, got the shapes none: take them from `arrays`$",
        ),
        (
            Images(5, 4, (PNG, encoded(PIXELS[:2]))),
            "array",
            r"^images of one shape make an array, got the shapes \(4, 5, 3\), \(2, 5, 3\): take them from `arrays`$",
        ),
        (
            Images(5, 4, (b"junk",)),
            "array",
            r"^an image must be a PNG, JPEG or GIF, got 4 bytes that begin with b'junk'$",
        ),
        (Images(5, 4, (PNG[:-30],)), "array", r"^an image must be whole, got a damaged PNG of \d+ bytes: "),
        (
            Images(5, 4, (encoded(PIXELS, "BMP"),)),
            "array",
            r"^an image must be a PNG, JPEG or GIF, got 118 bytes that begin with b'BM",
        ),
    ],
)
def test_what_is_no_image(images, ask, told):
    with pytest.raises(ValueError, match=told):
        getattr(images, ask)


def test_without_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert Images(5, 4, (PNG,)).png == PNG
    with pytest.raises(ImportError) as raised:
        _ = Images(5, 4, (PNG,)).array
    assert str(raised.value) == "this needs PIL: pip install 'gradledger[images]'"


def test_images_in_a_notebook():
    images = Images(5, 4, (PNG, encoded(PIXELS, "JPEG")))
    assert Seen(images._repr_html_().replace("<img ", "<path ")).attributes == {"style", "src"}
    assert images._repr_html_().count('src="data:image/') == 2
    assert repr(images) == f"Images(5 x 4, 2 images of {sum(map(len, images.encoded))} bytes)"
    assert Images(1, 1, (b"<svg onload=alert(1)>",))._repr_html_() == "<p>Images(1 x 1, 1 image of 21 bytes)</p>"
    assert len(Images(1, 1, (PNG + bytes(5 << 20),))._repr_html_()) < 100


def test_from_a_file(logdir):
    beep = np.sin(np.arange(800) / 4)
    with SummaryWriter(logdir) as writer:
        writer.add_image("image", PIXELS, 3, dataformats="HWC")
        writer.add_audio("beep", beep, 3, sample_rate=8000)
    run = read_run(logdir)
    assert np.array_equal(run.images["image"].at(3).array, PIXELS)
    ((samples, rate),) = run.audio["beep"].at(3).arrays
    assert rate == 8000
    assert samples.dtype == np.float32
    assert samples.shape == (800, 1)
    assert np.abs(samples[:, 0] - beep).max() < 1e-4


def wav(frames, width, channels=1):
    with io.BytesIO() as buffer:
        with wave.open(buffer, "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(width)
            file.setframerate(100)
            file.writeframes(frames)
        return buffer.getvalue()


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_every_width(width):
    levels = [-(1 << 8 * width - 1), 0, (1 << 8 * width - 1) - 1]
    offset = 128 if width == 1 else 0
    frames = b"".join((level + offset).to_bytes(width, "little", signed=width > 1) for level in levels)
    ((samples, rate),) = Audio((wav(frames, width),), ("",)).arrays
    assert rate == 100
    assert samples[:, 0].tolist() == pytest.approx([-1, 0, 1], abs=2.0 ** (1 - 8 * width) + 1e-9)


def test_stereo_and_an_end_inside_a_frame():
    two = np.array([[1, 2], [3, 4]], "<i2")
    whole = wav(two.tobytes(), 2, channels=2)
    assert Audio((whole,), ("",)).arrays[0][0].tolist() == (two / 32768).tolist()
    assert Audio((whole[:-1],), ("",)).arrays[0][0].tolist() == (two[:1] / 32768).tolist()


def test_what_is_no_sound():
    with pytest.raises(ValueError, match=r"^a clip must be a WAV with PCM samples, got 4 bytes: "):
        _ = Audio((b"junk",), ("",)).arrays


def test_sounds_in_a_notebook():
    audio = Audio((wav(b"\x00\x00", 2),), ("x",))
    assert repr(audio) == "Audio(1 clip of 46 bytes)"
    assert audio._repr_html_().startswith('<audio controls src="data:audio/wav;base64,')
    assert Audio((bytes(5 << 20),), ("",))._repr_html_() == "<p>Audio(1 clip of 5242880 bytes)</p>"


def test_a_picture_is_made_smaller_only_if_it_must():
    data = encoded(np.random.default_rng(0).integers(0, 256, (90, 120, 3), np.uint8))
    assert picture(data, len(data)) == (data, "png")
    small, kind = picture(data, len(data) // 2)
    assert (kind, len(small) <= len(data) // 2) == ("png", True)
    width, height = Image.open(io.BytesIO(small)).size
    assert 0 < width < 120
    assert abs(width / height - 120 / 90) < 0.1
    for broken, reason in ((b"<svg/>", "must be a PNG, JPEG or GIF"), (data[:-99] + b"x" * 999, "must be whole")):
        with pytest.raises(ValueError, match=reason):
            picture(broken, 10)
