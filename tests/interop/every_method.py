"""One script that calls every method of a SummaryWriter, torch's or ours.

python tests/interop/every_method.py DIRECTORY     log it with torch.utils.tensorboard; made tests/golden/every_method
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

STEPS = 3
TIME = 1_700_000_000.0

# What the tables of tests compare: everything but what is stored in files of its own.
LAYOUT = {"group": {"lines": ["Multiline", ["loss", "accuracy"]], "band": ["Margin", ["mid", "low", "high"]]}}


def log_everything(writer: Any, array: Any = np.asarray) -> None:
    """Call every method; `array` turns NumPy arrays into what the writer's users have, such as torch tensors."""
    for step in range(STEPS):
        log_step(writer, array, step)
    log_once(writer, array)


def log_step(writer: Any, array: Any, step: int) -> None:
    """What is logged at every step."""
    rng = np.random.default_rng(step)
    now = TIME + step
    writer.add_scalar("loss", 1 / (1 + step), step, now)
    writer.add_scalar("new/float", 0.1 * step, step, now, new_style=True)
    with warnings.catch_warnings():  # ours says that TensorBoard's fast loader hides it
        warnings.simplefilter("ignore")
        writer.add_scalar("new/double", 0.1 * step, step, now, new_style=True, double_precision=True)
    writer.add_scalars("group/curves", {"sin": np.sin(step), "cos": np.cos(step)}, step, now)
    normal = rng.normal(size=1000).astype(np.float32)
    writer.add_histogram("histogram/default", array(normal), step, walltime=now)
    writer.add_histogram("histogram/auto", array(normal), step, bins="auto", walltime=now)
    writer.add_histogram("histogram/ten", array(normal), step, bins=10, walltime=now)
    writer.add_histogram("histogram/integers", array(np.arange(100) % 7), step, walltime=now)
    writer.add_histogram_raw("histogram/raw", 0.0, 3.0, 6, 8.0, 12.0, [1.0, 2.0, 3.0], [1, 2, 3], step, now)
    writer.add_image("image/chw", array(rng.random((3, 8, 6)).astype(np.float32)), step, now)
    writer.add_image("image/hwc", array(rng.integers(0, 256, (8, 6, 3)).astype(np.uint8)), step, now, dataformats="HWC")
    writer.add_image("image/hw", array(rng.random((8, 6)).astype(np.float32)), step, now, dataformats="HW")
    writer.add_images("image/batch", array(rng.random((10, 3, 4, 4)).astype(np.float32)), step, now)
    boxes = array(np.array([[1, 1, 5, 5]], np.float32))
    writer.add_image_with_boxes("image/boxes", array(rng.random((3, 16, 16)).astype(np.float32)), boxes, step, now)
    writer.add_video("video", array(rng.integers(0, 256, (1, 4, 3, 8, 8)).astype(np.uint8)), step, 4, now)
    writer.add_audio("audio", array(np.sin(np.arange(400) / 9).astype(np.float32)), step, 8000, now)
    writer.add_text("text", f"step **{step}**", step, now)
    writer.add_tensor("tensor", array(rng.normal(size=(2, 3)).astype(np.float32)), step, now)
    labels, predictions = rng.integers(0, 2, 50), rng.random(50)
    writer.add_pr_curve("pr_curve", array(labels), array(predictions), step, 11, walltime=now)
    counts = [np.linspace(5, 0, 6), np.linspace(4, 0, 6), np.linspace(0, 4, 6), np.linspace(0, 5, 6)]
    rates = [np.linspace(0.5, 1, 6), np.linspace(1, 0, 6)]
    writer.add_pr_curve_raw("pr_curve_raw", *counts, *rates, step, 6, walltime=now)
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float32)[None]
    faces = np.array([[[0, 1, 2], [1, 2, 3], [4, 5, 6], [5, 6, 7]]], np.int32)
    config = {"material": {"cls": "MeshBasicMaterial"}}
    writer.add_mesh("mesh", array(cube), array((cube * 255).astype(np.uint8)), array(faces), config, step, now)


def log_once(writer: Any, array: Any) -> None:
    """What a run has once."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 2))
    figure.subplots().plot([1, 2, 3])
    writer.add_figure("figure", figure, 0, walltime=TIME)
    writer.add_custom_scalars(LAYOUT)
    writer.add_hparams({"lr": 0.1, "bs": 32, "opt": "adam"}, {"hparam/accuracy": 0.9}, run_name="hp")
    points = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    pictures = np.random.default_rng(1).random((9, 3, 4, 4)).astype(np.float32)
    writer.add_embedding(array(points), [str(i) for i in range(9)], array(pictures), 0, "points")


if __name__ == "__main__":
    import torch
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(sys.argv[1]) as writer:
        log_everything(writer, torch.from_numpy)
        writer.add_graph(torch.nn.Linear(2, 3), torch.zeros(1, 2))
