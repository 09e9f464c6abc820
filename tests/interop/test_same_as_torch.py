"""One script calls every method of torch's writer and of ours: TensorBoard finds the same in both."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from interop.every_method import STEPS, log_everything
from interop.tensorboard_readers import BLOBS, TENSORS, counts_by_server
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util.tensor_util import make_ndarray

from summaries import SummaryWriter

Image = pytest.importorskip("PIL.Image", reason="an extra")

GOLDEN = Path(__file__).parent.parent / "golden" / "every_method"  # torch 2.13's; every_method.py made it
RUNS = (".", "group_curves_sin", "group_curves_cos", "hp")

# Where we differ, and why.
ONLY_OURS = {"video"}  # torch needs moviepy 1, which is gone, and logs an empty value without it
DRAWN_ELSEWHERE = {"figure"}  # by matplotlib, whose versions and fonts differ


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    directory = tmp_path_factory.mktemp("ours")
    with SummaryWriter(directory) as writer:
        log_everything(writer)
    return directory


def load(directory):
    accumulator = EventAccumulator(str(directory), size_guidance=dict.fromkeys(KINDS, 0))
    return accumulator.Reload()


def points(accumulator, kind, tag):
    """(step, wall time, value) of every point, the value in a form that can be compared."""
    values = getattr(accumulator, {"images": "Images", "histograms": "Histograms"}.get(kind, kind.title()))(tag)
    return [(event.step, event.wall_time, KINDS[kind](event)) for event in values]


def pixels(event):
    return np.asarray(Image.open(io.BytesIO(event.encoded_image_string)).convert("RGB"), np.int16)


def histogram(event):
    value = event.histogram_value
    return np.array([value.min, value.max, value.num, value.sum, value.sum_squares, *value.bucket_limit, *value.bucket])


def sound(event):
    return np.frombuffer(event.encoded_audio_string, np.uint8)


KINDS = {
    "scalars": lambda event: np.array(event.value),
    "histograms": histogram,
    "images": pixels,
    "audio": sound,
    "tensors": lambda event: make_ndarray(event.tensor_proto),
}


@pytest.mark.parametrize("run", RUNS)
def test_the_same_tags_and_plugins(ours, run):
    mine, torchs = load(ours / run), load(GOLDEN / run)
    for kind in KINDS:
        assert set(mine.Tags()[kind]) - ONLY_OURS == set(torchs.Tags()[kind]) - ONLY_OURS, kind
    for tag in mine.summary_metadata:
        want = torchs.summary_metadata[tag].plugin_data
        got = mine.summary_metadata[tag].plugin_data
        assert (got.plugin_name, tag) == (want.plugin_name, tag)
        if got.plugin_name in ("pr_curves", "text", "mesh"):
            assert got.content == want.content


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_steps_times_and_values(ours, run, kind):
    mine, torchs = load(ours / run), load(GOLDEN / run)
    for tag in set(torchs.Tags()[kind]) - DRAWN_ELSEWHERE:
        got, want = points(mine, kind, tag), points(torchs, kind, tag)
        assert [step for step, _, _ in got] == [step for step, _, _ in want], tag
        for (_, got_time, got_value), (_, want_time, want_value) in zip(got, want, strict=True):
            if run != "hp" and tag != "custom_scalars__config__":  # these take no wall time
                assert got_time == want_time, tag
            if got_value.dtype.kind in "SO":
                assert got_value.tolist() == want_value.tolist(), tag
            else:
                np.testing.assert_allclose(got_value, want_value, rtol=1e-5, atol=1e-6, err_msg=tag)


def test_the_boxes_and_the_figure_are_as_large(ours):
    mine, torchs = load(ours), load(GOLDEN)
    for tag in ("figure", "image/boxes"):
        assert pixels(mine.Images(tag)[0]).shape == pixels(torchs.Images(tag)[0]).shape


def test_the_projector_files_hold_the_same(ours):
    names = ("metadata.tsv", "tensors.tsv")
    for name in names:
        got, want = ((root / "00000/points" / name).read_text() for root in (ours, GOLDEN))
        assert got == want
    got, want = (Image.open(root / "00000/points/sprite.png") for root in (ours, GOLDEN))
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_the_video_is_an_animation(ours):
    movie = Image.open(io.BytesIO(load(ours).Images("video")[0].encoded_image_string))
    assert (movie.format, movie.n_frames, movie.size) == ("GIF", 4, (8, 8))


def test_the_rust_server_keeps_as_many_points(ours):
    """And two series more: torch has no video without moviepy 1, and no data class on its tensors."""
    want = counts_by_server(GOLDEN, lambda counts: len(counts) == 25)
    got = counts_by_server(ours, lambda counts: len(counts) == 27)
    assert got == want | {("images", ".", "video"): STEPS, ("tensor", ".", "tensor"): STEPS}
    assert {plugin for plugin, _, _ in got} == {"scalars", *TENSORS, *BLOBS}
