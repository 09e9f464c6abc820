"""add_histogram, add_histogram_raw, add_tensor, add_pr_curve, add_pr_curve_raw, add_mesh, add_embedding."""

import numpy as np
import torch
from conformance.rows import SAME, accepted, calls, different, row

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=1000).astype(np.float32)
LABELS, SCORES = RNG.integers(0, 2, 50), RNG.random(50)
VERTICES = RNG.random((1, 8, 3)).astype(np.float32)
COLORS = (VERTICES * 255).astype(np.uint8)
FACES = np.array([[[0, 1, 2], [1, 2, 3], [4, 5, 6], [5, 6, 7]]], np.int32)
POINTS = RNG.normal(size=(9, 3)).astype(np.float32)
THUMBNAILS = RNG.random((9, 3, 4, 4)).astype(np.float32)
NAMES = [str(index) for index in range(9)]
COUNTS = np.float64([[5, 4, 3], [4, 2, 0], [0, 2, 4], [0, 1, 2], [0.5, 0.6, 1.0], [1.0, 0.8, 0.6]])

AT_MOST = different("at most max_bins bins are left; the originals' may be up to twice as many")
OUTSIDE = different("what lies outside the bins is counted in the outermost ones; the originals leave it out")
FINITE = different(
    "moments are those of the finite values, and infinity counts in the outermost bins; the originals' are NaN"
)
UNREADABLE = different("TensorBoard cannot read what torch writes")
BFLOAT16 = different("the dtype and bits are TensorFlow's for bfloat16; torch's, of float32's bits, nothing can read")
CLIPPED = different("scores beyond 0 to 1 count as 0 or 1, with a warning; the originals leave those above 1 out")
THRESHOLDS = different("as many thresholds as asked for; the originals stop at 127")
COLUMNS = different("the metadata say how many thresholds there are; the originals say 127")
PICTURES = accepted("arrays are taken, too; torch takes tensors only")
HEXADECIMAL = different("the directory's name has %2F for a slash; the originals' has %2f")
ONCE = different("points are listed once in the projector's configuration")
COMPONENTS = different(
    "tags and metadata are those of TensorBoard's mesh plugin, as in torch; tensorboardX numbers the parts"
)


histogram = calls("add_histogram", "t")
tensor = calls("add_tensor", "t", tensorboardX=None)
curve = calls("add_pr_curve", "t")
mesh = calls("add_mesh", "t", tensorboardX=COMPONENTS)
embedding = calls("add_embedding")


def raw(what, torch=SAME, tensorboardX=SAME, **changed):
    given = {"min": 0.0, "max": 3.0, "num": 6, "sum": 8.0, "sum_squares": 12.0}
    given |= {"bucket_limits": [1.0, 2.0, 3.0], "bucket_counts": [1, 2, 3], "global_step": 1} | changed
    return row(
        "add_histogram_raw", what, lambda w: w.add_histogram_raw("t", **given), torch=torch, tensorboardX=tensorboardX
    )


RULES = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")

HISTOGRAMS = [
    histogram("a float32 array", NORMAL, 1),
    histogram("a tensor", torch.from_numpy(NORMAL), 1),
    histogram("a parameter", torch.nn.Parameter(torch.from_numpy(NORMAL)), 1),
    histogram("a float16 tensor", torch.from_numpy(NORMAL).half(), 1),
    histogram(
        "a bfloat16 tensor",
        torch.from_numpy(NORMAL).bfloat16(),
        1,
        tensorboardX=accepted("tensorboardX cannot read bfloat16"),
    ),
    histogram("integers", np.arange(100) % 7, 1),
    histogram("bools", np.arange(100) % 7 > 2, 1),
    histogram("two dimensions", NORMAL.reshape(10, 100), 1),
    histogram("one value", np.float32([0.5]), 1),
    histogram("a number", 0.5, 1),
    histogram("zeros", np.zeros(10), 1),
    histogram("a list", [1.0, 2.0], 1, torch=accepted("torch takes no lists")),
    *(histogram(f"bins: {rule}", NORMAL, 1, rule) for rule in RULES),
    histogram("bins: a number", NORMAL, 1, 10),
    histogram("bins: limits", NORMAL, 1, [-5.0, -1.0, 0.0, 1.0, 5.0]),
    histogram("bins: limits that miss some values", NORMAL, 1, [-0.5, 0.0, 0.5], torch=OUTSIDE, tensorboardX=OUTSIDE),
    histogram("bins: an array", NORMAL, 1, np.linspace(-6, 6, 20)),
    histogram("bins: no rule", NORMAL, 1, "any"),
    histogram("max_bins", NORMAL, 1, max_bins=20, torch=AT_MOST, tensorboardX=AT_MOST),
    histogram("max_bins of a hundred bins", NORMAL, 1, 100, max_bins=30, torch=AT_MOST, tensorboardX=AT_MOST),
    histogram("bins, walltime and max_bins, by position", NORMAL, 1, 50, 1.7e9, 25),
    histogram("empty", np.zeros(0), 1),
    histogram("NaN", np.float32([1, np.nan, 2]), 1, torch=FINITE, tensorboardX=FINITE),
    histogram("infinity", np.float32([1, np.inf, 2]), 1, torch=FINITE, tensorboardX=FINITE),
    histogram("beyond the bins", np.float64([1e30, 1.0]), 1, torch=OUTSIDE, tensorboardX=OUTSIDE),
    histogram("strings", np.array(["a"]), 1),
    row(
        "add_histogram", "by name", lambda w: w.add_histogram(tag="t", values=NORMAL, global_step=1, bins="tensorflow")
    ),
    row(
        "add_histogram",
        "a large array",
        lambda w: w.add_histogram("t", np.tile(NORMAL, 2000), 1),
    ),
    raw("as given"),
    raw("walltime", walltime=1.7e9),
    raw("arrays", bucket_limits=np.float64([1, 2, 3]), bucket_counts=np.int64([1, 2, 3])),
    raw("tensors as moments", min=torch.tensor(0.0), max=np.float32(3)),
    raw("lengths that differ", bucket_counts=[1, 2]),
    raw("empty", bucket_limits=[], bucket_counts=[]),
    row(
        "add_histogram_raw",
        "by position",
        lambda w: w.add_histogram_raw("t", 0.0, 3.0, 6, 8.0, 12.0, [1.0, 2.0, 3.0], [1, 2, 3], 1, 1.7e9),
    ),
]

DTYPES = ("float32", "float64", "int8", "int16", "int32", "int64", "complex64", "complex128", "bool")

TENSORS = [
    *(tensor(f"of {dtype}", torch.tensor([[1, 0], [2, 3]]).to(getattr(torch, dtype)), 1) for dtype in DTYPES),
    tensor("of float16", torch.tensor([1.0, 2.5]).half(), 1, torch=UNREADABLE),
    tensor("of bfloat16", torch.tensor([1.0, 2.5]).bfloat16(), 1, torch=BFLOAT16),
    tensor("of uint8", torch.tensor([1, 2]).byte(), 1, torch=UNREADABLE),
    tensor("0-d", torch.tensor(1.5), 1),
    tensor("empty", torch.zeros(0, 3), 1),
    tensor("not contiguous", torch.arange(6.0).reshape(2, 3).T, 1),
    tensor("walltime", torch.tensor([1.5]), 1, 1.7e9),
    tensor("a NumPy array", np.float32([1, 2]), 1, torch=accepted("torch takes tensors only")),
    tensor("a list", [1.0, 2.0], 1, torch=accepted("torch takes tensors only")),
    tensor("that requires gradients", torch.tensor([1.5], requires_grad=True), 1),
    row(
        "add_tensor", "by name", lambda w: w.add_tensor(tag="t", tensor=torch.ones(2), global_step=1), tensorboardX=None
    ),
    row("add_tensor", "tag: empty", lambda w: w.add_tensor("", torch.ones(2), 1), tensorboardX=None),
]

CURVES = [
    curve("labels and scores", LABELS, SCORES, 1),
    curve("tensors", torch.from_numpy(LABELS), torch.from_numpy(SCORES), 1),
    curve("float32 scores", LABELS, SCORES.astype(np.float32), 1),
    curve("bool labels", LABELS.astype(bool), SCORES, 1),
    curve("11 thresholds", LABELS, SCORES, 1, 11),
    curve("more than 127 thresholds", LABELS, SCORES, 1, 500, torch=THRESHOLDS, tensorboardX=THRESHOLDS),
    curve("two thresholds", LABELS, SCORES, 1, 2),
    curve("one threshold", LABELS, SCORES, 1, 1),
    curve("no threshold", LABELS, SCORES, 1, 0),
    curve("weights", LABELS, SCORES, 1, weights=RNG.random(50)),
    curve("one weight", LABELS, SCORES, 1, weights=2.0),
    curve("weights and walltime, by position", LABELS, SCORES, 1, 11, None, 1.7e9),
    curve("scores above 1", LABELS, SCORES * 3, 1, torch=CLIPPED, tensorboardX=CLIPPED),
    curve("scores below 0", LABELS, SCORES - 0.5, 1, torch=CLIPPED, tensorboardX=CLIPPED),
    curve("only positives", np.ones(5), np.linspace(0, 1, 5), 1),
    curve("only negatives", np.zeros(5), np.linspace(0, 1, 5), 1),
    curve("two dimensions", LABELS.reshape(5, 10), SCORES.reshape(5, 10), 1),
    curve("lengths that differ", LABELS[:10], SCORES, 1),
    curve("empty", LABELS[:0], SCORES[:0], 1),
    curve("lists", LABELS.tolist(), SCORES.tolist(), 1, torch=accepted("torch takes no lists")),
    row(
        "add_pr_curve",
        "by name",
        lambda w: w.add_pr_curve(tag="t", labels=LABELS, predictions=SCORES, global_step=1, num_thresholds=5),
    ),
    row("add_pr_curve_raw", "six arrays", lambda w: w.add_pr_curve_raw("t", *COUNTS, 1, 3)),
    row("add_pr_curve_raw", "tensors", lambda w: w.add_pr_curve_raw("t", *torch.from_numpy(COUNTS), 1, 3)),
    row("add_pr_curve_raw", "lists", lambda w: w.add_pr_curve_raw("t", *COUNTS.tolist(), 1, 3)),
    row(
        "add_pr_curve_raw",
        "num_thresholds left out",
        lambda w: w.add_pr_curve_raw("t", *COUNTS, 1),
        torch=COLUMNS,
        tensorboardX=COLUMNS,
    ),
    row("add_pr_curve_raw", "by position", lambda w: w.add_pr_curve_raw("t", *COUNTS, 1, 3, None, 1.7e9)),
    row("add_pr_curve_raw", "lengths that differ", lambda w: w.add_pr_curve_raw("t", [1], *COUNTS[1:], 1, 3)),
]

MESHES = [
    mesh("vertices", VERTICES, global_step=1),
    mesh("vertices, colours, faces", VERTICES, COLORS, FACES, global_step=1),
    mesh("tensors", torch.from_numpy(VERTICES), torch.from_numpy(COLORS), torch.from_numpy(FACES), global_step=1),
    mesh("a configuration", VERTICES, config_dict={"camera": {"cls": "PerspectiveCamera", "fov": 75}}, global_step=1),
    mesh("by position", VERTICES, COLORS, FACES, {"lights": []}, 1, 1.7e9),
    mesh("a list", VERTICES.tolist(), global_step=1),
    mesh("two dimensions", VERTICES[0], global_step=1, tensorboardX=SAME),
    mesh("a batch of two", np.concatenate([VERTICES, VERTICES]), global_step=1),
    row("add_mesh", "by name", lambda w: w.add_mesh(tag="t", vertices=VERTICES, faces=FACES), tensorboardX=COMPONENTS),
]

EMBEDDINGS = [
    embedding("points", POINTS),
    embedding("a tensor", torch.from_numpy(POINTS)),
    embedding("labels", POINTS, NAMES),
    embedding("labels that are numbers", POINTS, list(range(9))),
    embedding("labels and pictures", POINTS, NAMES, THUMBNAILS, torch=PICTURES),
    embedding("pictures as a tensor", torch.from_numpy(POINTS), NAMES, torch.from_numpy(THUMBNAILS)),
    embedding("a tag", POINTS, NAMES, tag="points"),
    embedding("a tag with a slash", POINTS, NAMES, tag="a/b%c", torch=HEXADECIMAL, tensorboardX=HEXADECIMAL),
    embedding("a step", POINTS, NAMES, global_step=12),
    embedding("a header", POINTS, [[name, name] for name in NAMES], metadata_header=["a", "b"]),
    embedding("by position", POINTS, NAMES, torch.from_numpy(THUMBNAILS), 3, "points", None),
    embedding("fewer labels", POINTS, NAMES[:3]),
    embedding("fewer pictures", POINTS, NAMES, THUMBNAILS[:3]),
    embedding("one dimension", POINTS[0]),
    row(
        "add_embedding",
        "twice, under two tags",
        lambda w: [w.add_embedding(POINTS, tag=tag) for tag in ("a", "b")],
    ),
    row(
        "add_embedding",
        "twice, at two steps",
        lambda w: [w.add_embedding(POINTS, global_step=step) for step in (1, 2)],
    ),
    row(
        "add_embedding",
        "twice, the same",
        lambda w: [w.add_embedding(POINTS) for _ in range(2)],
        torch=ONCE,
        tensorboardX=ONCE,
    ),
]

ROWS = [*HISTOGRAMS, *TENSORS, *CURVES, *MESHES, *EMBEDDINGS]
