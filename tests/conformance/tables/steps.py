"""The step of every method that has one, in every form that the originals take."""

import numpy as np
import torch
from conformance.observing import by_tensorboard, frames, trials
from conformance.rows import different, row
from conformance.tables.arrays import COMPONENTS, COUNTS, FACES, LABELS, NORMAL, POINTS, SCORES, VERTICES
from conformance.tables.pictures import BATCH, BOXES, CANVAS, FLOATS, GIF, SOUND, VIDEO, figure, heard

WHOLE = different("the directory is named by the whole step, 2; the originals name it 2.7")

STEPS = {
    "None": None,
    "a string": "3",
    "a fraction": 2.7,
    "a tensor": torch.tensor(4),
    "a NumPy float": np.float32(5.5),
}

METHODS = {
    "add_histogram": (lambda w, step: w.add_histogram("t", NORMAL, step), {}),
    "add_histogram_raw": (lambda w, step: w.add_histogram_raw("t", 0, 1, 1, 1, 1, [1.0], [1], step), {}),
    "add_image": (lambda w, step: w.add_image("t", FLOATS, step), {}),
    "add_images": (lambda w, step: w.add_images("t", BATCH, step), {}),
    "add_image_with_boxes": (lambda w, step: w.add_image_with_boxes("t", CANVAS, BOXES, step), {}),
    "add_figure": (lambda w, step: w.add_figure("t", figure(), step), {}),
    "add_video": (lambda w, step: w.add_video("t", VIDEO, step), {"view": frames, "torch": GIF}),
    "add_audio": (lambda w, step: w.add_audio("t", SOUND, step), {"view": heard}),
    "add_tensor": (lambda w, step: w.add_tensor("t", torch.ones(2), step), {"tensorboardX": None}),
    "add_pr_curve": (lambda w, step: w.add_pr_curve("t", LABELS, SCORES, step), {}),
    "add_pr_curve_raw": (lambda w, step: w.add_pr_curve_raw("t", *COUNTS, step, 3), {}),
    "add_mesh": (lambda w, step: w.add_mesh("t", VERTICES, None, FACES, None, step), {"tensorboardX": COMPONENTS}),
    "add_hparams": (lambda w, step: w.add_hparams({"lr": 0.1}, {"m": 1.0}, global_step=step), {"view": trials}),
}
"""Method → a call with a step, and what is not usual about the row."""

ROWS = [
    row(method, f"step: {what}", lambda w, call=call, step=step: call(w, step), **options)
    for method, (call, options) in METHODS.items()
    for what, step in STEPS.items()
]
ROWS += [
    row(
        method,
        "at several steps",
        lambda w, call=call: [call(w, step) for step in range(3)],
        **{"view": by_tensorboard} | options,
    )
    for method, (call, options) in METHODS.items()
    if method != "add_hparams"
]
ROWS += [
    row(
        "add_text",
        "at several steps",
        lambda w: [w.add_text("t", f"step {step}", step) for step in range(3)],
        view=by_tensorboard,
    ),
    row("add_embedding", "step: None", lambda w: w.add_embedding(POINTS, global_step=None)),
    row("add_embedding", "step: a string", lambda w: w.add_embedding(POINTS, global_step="3")),
    row(
        "add_embedding",
        "step: a fraction",
        lambda w: w.add_embedding(POINTS, global_step=2.7),
        torch=WHOLE,
        tensorboardX=WHOLE,
    ),
]
