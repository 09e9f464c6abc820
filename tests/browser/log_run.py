"""Runs that call every method of a SummaryWriter: what the browser tests open in TensorBoard.

PYTHONPATH=tests python -m browser.log_run DIRECTORY     logs them

    sgd, momentum     a sweep: scalars, hyperparameters, metrics; sgd with a graph, traced from the demo's loss
    nesterov          the same, and everything else
    resumed           a run that diverged, and was taken up again from an earlier step
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
from browser.graph import graph_def, run_metadata
from browser.training import TRAIN, Network, Settings
from matplotlib.figure import Figure

from optim import trace_run
from optim.demo import sequential_digits
from summaries import SummaryWriter

STEPS = 31
LANDSCAPE = {  # lit from all sides, so that the colors are those that were logged
    "camera": {"cls": "PerspectiveCamera", "fov": 60},
    "lights": [{"cls": "AmbientLight", "color": "#ffffff", "intensity": 1}],
    "material": {"cls": "MeshLambertMaterial", "side": 2},
}
SWEEP = {
    "sgd": Settings(learning_rate=0.1, momentum=0.0, nesterov=False),
    "momentum": Settings(learning_rate=0.1, momentum=0.9, nesterov=False),
    "nesterov": Settings(learning_rate=0.2, momentum=0.9, nesterov=True),
}
COMPLETE = "nesterov"
TRACED = "sgd"  # the run that has this graph
RESUMED_AT, DIVERGED = 20, 1000.0
TEST = slice(TRAIN, None)
NOTE = """### Handwritten digits
A network with **one hidden layer**, trained on 1,400 digits and tested on 397 others.

| layer | shape | activation |
|---|---|---|
| hidden | 64 → 16 | tanh |
| output | 16 → 10 | softmax |

`momentum` is 0.9; see [the data](https://doi.org/10.24432/C50P49).
"""


def log_all(root):
    """Log all runs below `root`. What the table of hyperparameters must show, by run."""
    metrics = {name: log_training(Path(root) / name, settings) for name, settings in SWEEP.items()}
    log_resumed(Path(root) / "resumed")
    return metrics


def log_traced(writer):
    """Log the graph of the demo's loss, and what a batch costs."""
    parameters = sequential_digits.init_parameters(np.random.default_rng(0))
    (x, y), _ = sequential_digits.load_digits()
    graph, cost = trace_run(lambda: sequential_digits.loss(parameters, x[:, :64], y[:64]), values=False)
    writer.add_graph(graph)
    writer.add_run_metadata(cost, "first batch")


def log_training(directory, settings):
    """Train and log a run; its final metrics, which go into the same directory."""
    network = Network(settings)
    filters = []
    with SummaryWriter(directory) as writer:
        for step in range(STEPS):
            network.epoch()
            log_scalars(writer, network, step)
            filters.append(weight_pictures(network))
            if directory.name == COMPLETE:
                log_distributions(writer, network, step)
                if step % 10 == 0:
                    log_media(writer, network, step)
        if directory.name == TRACED:
            log_traced(writer)
        if directory.name == COMPLETE:
            log_once(writer, network, filters)
        log_layout(writer, directory.name)
        metrics = {"test/accuracy": network.accuracy(TEST), "test/loss": float(network.losses(TEST).mean())}
        writer.add_hparams(asdict(settings), metrics)
    return metrics


def log_resumed(directory):
    """What a first process wrote at step 20 and later, a second one supersedes."""
    with SummaryWriter(directory) as writer:
        for step in range(STEPS):
            writer.add_scalar("loss/mean", DIVERGED if step >= RESUMED_AT else 2 * 0.9**step, step)
    with SummaryWriter(directory, purge_step=RESUMED_AT, filename_suffix=".resumed") as writer:
        for step in range(RESUMED_AT, STEPS):
            writer.add_scalar("loss/mean", 2 * 0.9**step, step)


def log_scalars(writer, network, step):
    """What every run has."""
    losses = network.losses(TEST)
    low, high = np.percentile(losses, [10, 90])
    writer.add_scalar("loss/mean", losses.mean(), step, summary_description="Cross-entropy of the *test* digits.")
    writer.add_scalar("loss/low", low, step)
    writer.add_scalar("loss/high", high, step, new_style=True)
    both = {"train": network.accuracy(slice(TRAIN)), "test": network.accuracy(TEST)}
    writer.add_scalars("accuracy", both, step)


def log_distributions(writer, network, step):
    """Histograms of several makes."""
    for name, weight in network.weights.items():
        writer.add_histogram(f"weights/{name}", weight, step)
        writer.add_histogram(f"gradients/{name}", network.gradients[name].astype(np.float32), step, bins="auto")
    labels = network.probabilities(network.pixels[TEST]).argmax(axis=1)
    counts = np.bincount(labels, minlength=10)
    moments = -0.5, 9.5, len(labels), labels.sum(), (labels.astype(float) ** 2).sum()
    writer.add_histogram_raw("predictions/digits", *moments, np.arange(10) + 0.5, counts, step)


def log_media(writer, network, step):
    """Pictures, sounds, texts and curves, at four of the steps."""
    found = network.probabilities(network.pixels[TEST])
    writer.add_image("weights/hidden_0", weight_pictures(network)[0], step)
    writer.add_images("digits/mistaken", mistaken(network, found), step)
    writer.add_image_with_boxes("digits/box", digit(network, 3), [[30, 2, 98, 126]], step, labels=["3"])
    writer.add_figure("figures/confusion", confusion(network, found), step)
    writer.add_audio("sound/chord", chord(found.mean(axis=0) * np.linspace(0.5, 1, 10) + step / 60), step, 16000)
    writer.add_text("notes/mistakes", f"Step **{step}**: {1 - network.accuracy(TEST):.1%} mistaken.", step)
    writer.add_tensor("activations/first", network.activations(network.pixels[:4]).astype(np.float32), step)
    truth = network.labels[TEST]
    writer.add_pr_curve("digit/eight", truth == 8, found[:, 8], step)
    writer.add_mesh("shapes/landscape", *landscape(network), LANDSCAPE, step)


def log_once(writer, network, filters):
    """What a run has once."""
    writer.add_text("notes/data", NOTE)
    writer.add_video("weights/learning", np.stack(filters, axis=1), STEPS - 1, fps=8)
    writer.add_pr_curve_raw("digit/raw", *operating_points(), global_step=STEPS - 1, num_thresholds=51)
    writer.add_mesh("shapes/spiral", *spiral(), config_dict={"material": {"cls": "PointsMaterial", "size": 0.04}})
    writer.add_graph(graph_def())
    writer.add_run_metadata(run_metadata(), "step 30", STEPS - 1)
    rows = np.arange(TRAIN - 150, TRAIN + 150)
    labels = [
        [digit, "train" if row < TRAIN else "test"] for row, digit in zip(rows, network.labels[rows], strict=True)
    ]
    pictures = 1 - network.pixels[rows].reshape(-1, 1, 8, 8).repeat(3, axis=1)
    points = network.activations(network.pixels[rows])
    writer.add_embedding(points, labels, pictures, STEPS - 1, "activations", ["digit", "part"])


def log_layout(writer, name):
    """A layout of the custom scalars by each of the three methods; TensorBoard joins those of all runs."""
    if name == "sgd":
        writer.add_custom_scalars_multilinechart(["loss/(low|high)"], "spread", "percentiles")
    elif name == "momentum":
        writer.add_custom_scalars_marginchart(["loss/mean", "loss/low", "loss/high"], "loss", "mean and spread")
    else:
        writer.add_custom_scalars({"learning": {"accuracy": ["Multiline", ["accuracy"]]}})


def weight_pictures(network):
    """[16, 3, 64, 64]: what each hidden unit looks for, from blue through white to red."""
    weights = network.weights["hidden/weights"].T.reshape(-1, 8, 8)
    share = np.clip(weights / 1.5, -1, 1)
    colors = np.stack((1 + np.minimum(share, 0), 1 - np.abs(share), 1 - np.maximum(share, 0)), axis=1)
    return np.kron(colors, np.ones((1, 1, 8, 8)))


def digit(network, index):
    """[1, 128, 128]: a digit, sixteen times as large."""
    return np.kron(network.pixels[index].reshape(1, 8, 8), np.ones((1, 16, 16)))


def mistaken(network, found):
    """[16, 1, 56, 56]: the digits that the network is least sure of."""
    sure = found[np.arange(len(found)), network.labels[TEST]]
    worst = network.pixels[TEST][np.argsort(sure)[:16]].reshape(-1, 1, 8, 8)
    return np.pad(np.kron(worst, np.ones((1, 1, 6, 6))), ((0, 0), (0, 0), (4, 4), (4, 4)), constant_values=0.3)


def confusion(network, found):
    """The figure of which digits are taken for which."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (network.labels[TEST], found.argmax(axis=1)), 1)
    figure = Figure(figsize=(4, 3.6), layout="constrained")
    axes = figure.subplots()
    figure.colorbar(axes.imshow(counts, cmap="Blues"))
    axes.set(xlabel="taken for", ylabel="digit", xticks=range(10), yticks=range(10))
    return figure


def chord(loudness):
    """One second at 16 kHz: a tone for each digit, fading out."""
    seconds = np.arange(16000) / 16000
    tones = np.sin(2 * np.pi * 220 * 2 ** (np.arange(10)[:, None] / 5) * seconds)
    sound = (loudness[:, None] * tones).sum(axis=0) * np.exp(-3 * seconds)
    return sound / np.abs(sound).max() * 0.9


def landscape(network, side=24):
    """Vertices, colors and faces: the loss around the weights, along two random directions."""
    rng = np.random.default_rng(3)
    across, along = ({name: rng.normal(size=weight.shape) for name, weight in network.weights.items()} for _ in "ab")
    places = np.linspace(-1, 1, side)
    rows = slice(0, 100)
    heights = np.empty((side, side))
    for i, x in enumerate(places):
        for j, z in enumerate(places):
            moved = {name: weight + x * across[name] + z * along[name] for name, weight in network.weights.items()}
            heights[i, j] = network.losses(rows, moved).mean()
    height = (heights / heights.max()).ravel()
    grid_x, grid_z = (axis.ravel() for axis in np.meshgrid(places, places, indexing="ij"))
    tilt = np.array([[1, 0, 0], [0, 0.8, 0.6], [0, -0.6, 0.8]])  # so that it is seen from above
    vertices = np.stack((grid_x, height - 0.5, grid_z), axis=1) @ tilt
    colors = np.stack((255 * height, 90 + 0 * height, 255 * (1 - height)), axis=1).astype(np.uint8)
    return vertices[None], colors[None], quads(side)[None]


def spiral():
    """Vertices and colors of points along a spiral, from blue to red."""
    share = np.linspace(0, 1, 600)
    angle = 6 * np.pi * share
    points = np.stack((0.5 * np.cos(angle), 0.6 * share - 0.3, 0.5 * np.sin(angle)), axis=1)
    colors = np.stack((255 * share, 60 + 0 * share, 255 - 255 * share), axis=1).astype(np.uint8)
    return points[None], colors[None]


def operating_points():
    """True and false positives, true and false negatives, precision and recall, at 51 thresholds."""
    threshold = np.linspace(0, 1, 51)
    positives, negatives = 40 * (1 - threshold**4), 357 * (1 - threshold) ** 8
    precision = positives / np.maximum(positives + negatives, 1e-7)
    return positives, negatives, 357 - negatives, 40 - positives, precision, positives / 40


def quads(side):
    """[2 (side - 1)², 3]: two triangles for each square of a grid of vertices."""
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    upper = np.stack((corner, corner + 1, corner + side), axis=1)
    lower = np.stack((corner + 1, corner + side + 1, corner + side), axis=1)
    return np.concatenate((upper, lower)).astype(np.int32)


if __name__ == "__main__":
    log_all(sys.argv[1])
