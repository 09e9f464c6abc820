"""A program that makes a summary of every kind and prints a digest of each; and again, when everything has been made.

python tests/properties/every_kind.py [processors [seed]]
"""

import hashlib
import json
import os
import random
import sys
import tempfile
import warnings
from functools import partial

import numpy as np

import summaries
from summaries import SummaryWriter, figure, image_with_boxes, images, pr_curve_raw, video
from summaries.wire.pb import AttrValue, Event, GraphDef, NodeDef

RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")


def numbers(size, dtype=np.float64):
    """Numbers of many sizes, whose sums are rounded."""
    generator = np.random.default_rng(size)
    signed, scale = generator.integers(-(2**30), 2**30, size), generator.integers(-40, 11, size)
    with np.errstate(over="ignore"):
        return np.ldexp(signed / 2**30, scale).astype(dtype)


def wholes(size, dtype):
    """Whole numbers that the dtype holds."""
    return np.random.default_rng(size).integers(0, 128, size).astype(dtype)


def with_odd(size, *odd):
    """Numbers, of which some are not finite."""
    values = numbers(size)
    values[:: max(1, size // (3 * len(odd)))][: len(odd)] = odd
    return values


ARRAYS = {
    **{f"{size}": numbers(size) for size in (1, 15, 17, 4_095, 4_097, 70_001, 900_001)},
    **{f"{size} of float32": numbers(size, np.float32) for size in (3, 4_096, 1_000_003)},
    **{f"of {dtype}": wholes(70_000, dtype) for dtype in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")},
    **{f"of {dtype}": numbers(70_000, dtype) for dtype in ("f2", "f4", ">f4", ">f8", "g")},
    "every third, backwards": numbers(300_000)[::-3],
    "in Fortran's order": numbers(200_000).reshape(400, -1).T,
    "in no order": numbers(60_000).reshape(30, 40, 50).swapaxes(1, 2)[::2],
    "unaligned": np.frombuffer(b"x" + numbers(9_000).tobytes(), np.float64, offset=1),
    "one NaN": with_odd(800_000, np.nan),
    "infinities": with_odd(300_000, np.inf, -np.inf, np.nan, np.inf),
    "nothing else": np.array([np.inf, -np.inf, np.inf]),
    "NaN alone": np.array([np.nan]),
    "squares beyond float64": numbers(5_000) * 1e250,
    "sums beyond float64": np.repeat([1.7e308, -1.7e308], 5_000),
}


def written(values, bins):
    """What SummaryWriter makes of it, large or small, in whichever thread."""
    with tempfile.TemporaryDirectory() as directory:
        with SummaryWriter(directory) as writer:
            writer.add_histogram("h", values, 0, bins, walltime=1.0)
        (event,) = [event for event in summaries.summary_iterator(writer.path) if event.HasField("summary")]
        return event.summary


def graph():
    """What SummaryWriter makes of a graph whose node has many attributes."""
    definition = GraphDef(node=[NodeDef(name="a", attr={letter: AttrValue(i=1) for letter in "abcdefghij"})])
    with tempfile.TemporaryDirectory() as directory:
        with SummaryWriter(directory) as writer:
            writer.add_graph(definition)
        return Event(
            graph_def=next(event.graph_def for event in summaries.summary_iterator(writer.path) if event.graph_def)
        )


def drawn():
    """A figure, if there is matplotlib."""
    matplotlib = __import__("matplotlib.figure")
    canvas = matplotlib.figure.Figure((1, 1))
    canvas.subplots().plot(numbers(50))
    return figure("f", canvas)


def cases():
    """Name → what makes its summary."""
    made = {f"histogram, {name}": partial(summaries.histogram, "h", values) for name, values in ARRAYS.items()}
    several = ("70001", "4096 of float32", "of f2", "of i8", "in Fortran's order", "infinities")
    for bins in (7, [-1.0, 0.0, 1.0], *RULES):
        of_size = several if bins != "stone" else ("15", "4095")
        made |= {
            f"histogram, {bins}, {name}": partial(summaries.histogram, "h", ARRAYS[name], bins) for name in of_size
        }
    for name in ("4097", "70001", "in Fortran's order", "every third, backwards", "in no order", "one NaN", "of >f8"):
        made |= {f"written, {bins}, {name}": partial(written, ARRAYS[name], bins) for bins in ("tensorflow", "auto", 9)}
    share, picture = np.abs(numbers(3 * 32 * 32)).clip(0, 1), numbers(3 * 8 * 9).reshape(3, 8, 9)
    labels, scores = wholes(5_000, "i8") % 2, np.abs(numbers(5_000)).clip(0, 1)
    hparams = {"lr": 0.1, "layers": 3, "name": "a", "bias": True, **{f"h{i}": i for i in range(20)}}
    layout = {"losses": {"all": ["Multiline", ["loss/.*"]], "one": ["Margin", ["a", "b", "c"]]}}
    return made | {
        "histogram, few bins": partial(summaries.histogram, "h", ARRAYS["70001"], max_bins=5),
        "scalar": partial(summaries.scalar, "s", 0.1),
        "scalar, a tensor": partial(summaries.scalar, "s", np.float64(0.1), new_style=True, double_precision=True),
        "zero_fraction": partial(summaries.zero_fraction, "z", wholes(1_000, "i4")),
        "image": partial(summaries.image, "i", picture),
        "image of bytes": partial(summaries.image, "i", wholes(192, "u1").reshape(3, 8, 8)),
        "images": partial(images, "i", picture[None]),
        "boxes": partial(image_with_boxes, "i", share.reshape(3, 32, 32), np.array([[2, 2, 20, 20]]), labels=["a"]),
        "figure": drawn,
        "graph": graph,
        "video": partial(video, "v", share[:3000].reshape(1, 10, 3, 10, 10)),
        "audio": partial(summaries.audio, "a", scores, 8_000),
        "text": partial(summaries.text, "t", "*text*"),
        "tensor": partial(summaries.tensor, "t", ARRAYS["in Fortran's order"]),
        "tensor, swapped": partial(summaries.tensor, "t", ARRAYS["of >f4"]),
        "pr_curve": partial(summaries.pr_curve, "p", labels, scores, weights=scores),
        "pr_curve_raw": partial(pr_curve_raw, "p", *np.abs(numbers(60)).reshape(6, 10)),
        "mesh": partial(summaries.mesh, "m", numbers(30).reshape(1, 10, 3), config_dict={"b": 1, "a": {"c": 0.1}}),
        "hparams": partial(summaries.hparams, hparams, {"loss": 0.1}, {"layers": [1, 2, 3]}),
        "custom_scalars": partial(summaries.custom_scalars, layout),
        "merge": lambda: summaries.merge([summaries.scalar("a", 1.0), summaries.histogram("b", ARRAYS["17"])]),
    }


def digests(names):
    """Name → the digest of its summary's bytes, made in this order."""
    made, found = cases(), {}
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = hashlib.sha256(made[name]().SerializeToString()).hexdigest()[:16]
    return found


def main(processors="", seed=""):
    """Print [{name: digest}] of a fresh process; with a seed, also those of one that has made everything before."""
    if processors and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(processors)])
    names = list(cases())
    found = [digests(names)]
    if seed:
        random.Random(int(seed)).shuffle(names)
        found.append(digests(names))
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
