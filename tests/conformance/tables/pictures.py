"""add_image, add_images, add_image_with_boxes, add_figure, add_video, add_audio."""

import numpy as np
import torch
from conformance.observing import events, frames
from conformance.rows import accepted, calls, different, row

RNG = np.random.default_rng(0)
FLOATS = RNG.random((3, 6, 5)).astype(np.float32)
BYTES = RNG.integers(0, 256, (3, 6, 5)).astype(np.uint8)
BATCH = RNG.random((10, 3, 4, 4)).astype(np.float32)
BOXES = np.float32([[1, 1, 12, 12], [3, 4, 20, 18]])
CANVAS = RNG.random((3, 32, 32)).astype(np.float32)
VIDEO = RNG.integers(0, 256, (1, 4, 3, 8, 8)).astype(np.uint8)
SOUND = np.sin(np.arange(400) / 9).astype(np.float32)

WRAPS = different("values beyond 0 to 1 are clipped, as in torch; tensorboardX lets them wrap around")
GIF = different("torch needs moviepy 1 and logs an empty value without it; ours makes the GIF")
LABELLED = different("boxes that have a label show it; the originals show none if the numbers differ")
LEGIBLE = different("labels are dark on a light ground: the originals write red on red, which nobody can read")
HALF = different("float16 is scaled to bytes as float32, as in torch; rounding in float16 differs by one")
INTEGERS = different("integers of any type count from 0 to 255; the originals multiply all but bytes by 255")
TRUNCATED = different("samples are truncated to 16 bits, as in torch, not rounded: they differ by one in 32767 at most")
SAMPLES = different("integers count as full scale from -1 to 1, as in torch; soundfile takes them as samples")
SILENT = accepted("an empty sound is stored; the originals fail on it")


def figure(number=1):
    from matplotlib.figure import Figure

    figures = []
    for index in range(number):
        one = Figure(figsize=(2, 2))
        one.subplots().plot([1, 2, 3 + index])
        figures.append(one)
    return figures[0] if number == 1 else figures


def pyplot_figure(w, close):
    """Whether the figure is still open afterwards."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    one = plt.figure(figsize=(2, 2))
    w.add_figure("t", one, 1, close)
    is_open = plt.fignum_exists(one.number)
    plt.close("all")
    return is_open


def heard(root):
    """Rate, channels and length of each sound."""
    sounds = [point["audio"] for points in events(root).values() for point in points]
    return [{name: value for name, value in sound.items() if name != "samples"} for sound in sounds]


image = calls("add_image", "t")
images = calls("add_images", "t")
boxes = calls("add_image_with_boxes", "t")
video = calls("add_video", "t", view=frames, torch=GIF)
audio = calls("add_audio", "t", view=heard)

ROWS = [
    image("CHW of float32", FLOATS, 1),
    image("CHW of bytes", BYTES, 1),
    image("a tensor", torch.from_numpy(FLOATS), 1),
    image("a tensor that requires gradients", torch.from_numpy(FLOATS).requires_grad_(), 1),
    image("a float16 tensor", torch.from_numpy(FLOATS).half(), 1, tensorboardX=HALF),
    image("float64", FLOATS.astype(np.float64), 1),
    image("a bool array", FLOATS > 0.5, 1),
    image("int64 from 0 to 255", BYTES.astype(np.int64), 1, torch=INTEGERS, tensorboardX=INTEGERS),
    image("HWC", FLOATS.transpose(1, 2, 0), 1, dataformats="HWC"),
    image("HW", FLOATS[0], 1, dataformats="HW"),
    image("WH", FLOATS[0].T, 1, dataformats="WH"),
    image("lower case", FLOATS.transpose(1, 2, 0), 1, dataformats="hwc"),
    image("by position", FLOATS.transpose(1, 2, 0), 1, 1.7e9, "HWC"),
    image("one channel", FLOATS[:1], 1),
    image("four channels", np.concatenate([FLOATS, FLOATS[:1]]), 1),
    image("NCHW", BATCH, 1, dataformats="NCHW"),
    image("values beyond 0 to 1", FLOATS * 3 - 1, 1, tensorboardX=WRAPS),
    image("NaN", np.full((3, 2, 2), np.nan, np.float32), 1),
    image("a format of other dimensions", FLOATS, 1, dataformats="HW"),
    image("a format with a letter twice", FLOATS, 1, dataformats="HHW"),
    image("two channels", FLOATS[:2], 1),
    image("a list", FLOATS.tolist(), 1, torch=accepted("torch takes no lists")),
    image("None", None, 1),
    image("walltime", FLOATS, 1, walltime=1.7e9),
    row("add_image", "by name", lambda w: w.add_image(tag="t", img_tensor=FLOATS, global_step=1, dataformats="CHW")),
    images("NCHW", BATCH, 1),
    images("a tensor", torch.from_numpy(BATCH), 1),
    images("NHWC", BATCH.transpose(0, 2, 3, 1), 1, dataformats="NHWC"),
    images("one channel", BATCH[:, :1], 1),
    images("one picture", BATCH[:1], 1),
    images("seven pictures", BATCH[:7], 1),
    images("bytes", (BATCH * 255).astype(np.uint8), 1),
    images("no picture", BATCH[:0], 1),
    images("three dimensions", BATCH[0], 1),
    images(
        "a list of CHW",
        [torch.from_numpy(FLOATS), torch.from_numpy(FLOATS)],
        1,
        dataformats="CHW",
        torch=accepted("torch takes no lists"),
    ),
    images(
        "a list of HWC arrays",
        [FLOATS.transpose(1, 2, 0)] * 2,
        1,
        dataformats="HWC",
        torch=accepted("torch takes no lists"),
    ),
    row("add_images", "by name", lambda w: w.add_images(tag="t", img_tensor=BATCH, global_step=1, walltime=1.7e9)),
    boxes("two boxes", CANVAS, BOXES, 1),
    boxes("tensors", torch.from_numpy(CANVAS), torch.from_numpy(BOXES), 1),
    boxes("of integers", CANVAS, BOXES.astype(np.int64), 1),
    boxes("HWC", CANVAS.transpose(1, 2, 0), BOXES, 1, dataformats="HWC"),
    boxes("rescale", CANVAS, BOXES, 1, rescale=2),
    boxes("rescale to half", CANVAS, BOXES, 1, rescale=0.5),
    boxes("beyond the picture", CANVAS, BOXES * 3 - 10, 1),
    boxes("no boxes", CANVAS, BOXES[:0], 1),
    boxes("labels", CANVAS, BOXES, 1, labels=["a", "b"], torch=LEGIBLE, tensorboardX=LEGIBLE),
    boxes("one label as a string", CANVAS, BOXES[:1], 1, labels="a", torch=LEGIBLE, tensorboardX=LEGIBLE),
    boxes("fewer labels than boxes", CANVAS, BOXES, 1, labels=["a"], torch=LABELLED, tensorboardX=LABELLED),
    boxes("more labels than boxes", CANVAS, BOXES, 1, labels=["a", "b", "c"], torch=LABELLED, tensorboardX=LABELLED),
    boxes("three columns", CANVAS, BOXES[:, :3], 1),
    row(
        "add_image_with_boxes",
        "by name",
        lambda w: w.add_image_with_boxes(tag="t", img_tensor=CANVAS, box_tensor=BOXES, global_step=1, walltime=1.7e9),
    ),
    row(
        "add_image_with_boxes",
        "by position",
        lambda w: w.add_image_with_boxes("t", CANVAS.transpose(1, 2, 0), BOXES, 1, 1.7e9, 1, "HWC"),
        tensorboardX=None,
    ),
    row(
        "add_image_with_boxes",
        "by position, without rescale",
        lambda w: w.add_image_with_boxes("t", CANVAS.transpose(1, 2, 0), BOXES, 1, 1.7e9, "HWC"),
        torch=None,
    ),
    row("add_figure", "a figure", lambda w: w.add_figure("t", figure(), 1)),
    row("add_figure", "a list of figures", lambda w: w.add_figure("t", figure(3), 1)),
    row("add_figure", "by name", lambda w: w.add_figure(tag="t", figure=figure(), global_step=1, close=True)),
    row("add_figure", "walltime, by position", lambda w: w.add_figure("t", figure(), 1, False, 1.7e9)),
    row("add_figure", "close", lambda w: pyplot_figure(w, close=True)),
    row("add_figure", "close=False", lambda w: pyplot_figure(w, close=False)),
    row("add_figure", "no figure", lambda w: w.add_figure("t", 5, 1)),
    video("bytes", VIDEO, 1),
    video("a tensor of floats", torch.from_numpy(VIDEO / np.float32(255)), 1),
    video("two videos", np.concatenate([VIDEO, VIDEO]), 1),
    video("three videos", np.concatenate([VIDEO] * 3), 1),
    video("one channel", VIDEO[:, :, :1], 1),
    video("fps", VIDEO, 1, fps=30),
    video("fps of half", VIDEO, 1, fps=0.5),
    video("fps and walltime, by position", VIDEO, 1, 8, 1.7e9),
    row(
        "add_video",
        "dataformats",
        lambda w: w.add_video("t", VIDEO.transpose(0, 1, 3, 4, 2), 1, dataformats="NTHWC"),
        view=frames,
        torch=None,
    ),
    row("add_video", "pixels", lambda w: w.add_video("t", VIDEO, 1), torch=GIF),
    row("add_video", "four dimensions", lambda w: w.add_video("t", VIDEO[0], 1)),
    audio("a mono sound", SOUND, 1),
    audio("a tensor", torch.from_numpy(SOUND), 1),
    audio("float64", SOUND.astype(np.float64), 1),
    audio("sample_rate", SOUND, 1, 8000),
    audio("sample_rate and walltime, by position", SOUND, 1, 8000, 1.7e9),
    audio("beyond -1 to 1", SOUND * 2, 1),
    audio("exactly -1 and 1", np.float32([-1, 0, 1, 0.5]), 1),
    audio("shape (1, n)", SOUND[None], 1, tensorboardX=accepted("tensorboardX takes (n,), (n, 1) and (n, 2)")),
    audio("shape (n, 1)", SOUND[:, None], 1),
    audio("stereo, (n, 2)", np.stack([SOUND, -SOUND], 1), 1, torch=accepted("torch takes one channel")),
    audio("three channels", np.stack([SOUND] * 3, 1), 1),
    audio("integers", (SOUND * 1000).astype(np.int16), 1),
    row("add_audio", "samples", lambda w: w.add_audio("t", SOUND, 1), tensorboardX=TRUNCATED),
    row("add_audio", "samples beyond -1 to 1", lambda w: w.add_audio("t", SOUND * 2, 1), tensorboardX=TRUNCATED),
    row("add_audio", "samples of 16 bits", lambda w: w.add_audio("t", np.int16([5, -9]), 1), tensorboardX=SAMPLES),
    audio("silence", np.zeros(10, np.float32), 1),
    audio("empty", np.zeros(0, np.float32), 1, torch=SILENT, tensorboardX=SILENT),
    row(
        "add_audio",
        "by name",
        lambda w: w.add_audio(tag="t", snd_tensor=SOUND, global_step=1, sample_rate=8000),
        view=heard,
    ),
]
