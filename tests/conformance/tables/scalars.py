"""add_scalar, add_scalars, add_text."""

import math

import numpy as np
import torch
from conformance.rows import accepted, different, refused, row

CLEAN = different(
    "tensorboardX writes other characters of a tag than letters, digits, - / . and _ as _; the tag is kept"
)
ONE_DIRECTORY = different("the run is named <main_tag>_<name>, as torch does; tensorboardX nests <main_tag>/<name>")
NUMERIC = accepted("a numeric string is taken as a number")
NAMED = accepted("any name is written as text")
DESCRIBED = different("the metadata name the plugin, too; tensorboardX's do not")
UNENCODABLE = accepted("what cannot be encoded is replaced by a question mark")

NUMBERS = {
    "a float": 0.25,
    "an int": 3,
    "a bool": True,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "a subnormal number": 1e-42,
    "an int beyond float64's exact ones": 2**60 + 1,
    "a NumPy float16": np.float16(0.1),
    "a NumPy float64": np.float64(0.1),
    "a NumPy int64": np.int64(7),
    "a NumPy bool": np.bool_(True),
    "a NumPy 0-d array": np.array(1.5),
    "a NumPy array of one element": np.array([1.5]),
    "a NumPy array of shape (1, 1)": np.array([[1.5]]),
    "a 0-d tensor": torch.tensor(0.1),
    "a tensor of one element": torch.tensor([0.1]),
    "an integer tensor": torch.tensor(3),
    "a bool tensor": torch.tensor(True),
    "a float16 tensor": torch.tensor(0.1, dtype=torch.float16),
    "a parameter": torch.nn.Parameter(torch.tensor([0.5])),
}
"""Numbers that every writer takes."""

STEPS = {
    "None": None,
    "0": 0,
    "an int": 7,
    "a negative int": -3,
    "a bool": True,
    "2**40": 2**40,
    "a float": 3.0,
    "a float with a fraction": 2.7,
    "a negative float with a fraction": -2.7,
    "a string": "3",
    "a string with spaces": " 3 ",
    "a NumPy int32": np.int32(5),
    "a NumPy float32": np.float32(5.5),
    "a NumPy 0-d array": np.array(5),
    "a 0-d tensor": torch.tensor(5),
    "a float tensor": torch.tensor(5.7),
    "a tensor of one element": torch.tensor([5]),
}
"""Steps that every writer takes."""

NO_STEPS = {"a word": "three", "a fraction in a string": "2.7", "NaN": math.nan, "infinity": math.inf, "a list": [1]}

TAGS = {
    "plain": "loss",
    "with a slash": "train/loss",
    "with digits, dots and dashes": "a-1.b_2/c",
    "not ASCII": "größe/梯度",
}
ODD_TAGS = {
    "with spaces": "train loss",
    "with punctuation": "a:b(c)[d]*?",
    "with a newline": "a\nb",
    "of one space": " ",
    "with a backslash": "a\\b",
}

ROWS = [
    *(row("add_scalar", f"value: {what}", lambda w, v=v: w.add_scalar("t", v, 1)) for what, v in NUMBERS.items()),
    row("add_scalar", "value: beyond float32", lambda w: w.add_scalar("t", 1e300, 1)),
    row("add_scalar", "value: below float32", lambda w: w.add_scalar("t", -1e300, 1)),
    row(
        "add_scalar",
        "value: a bfloat16 tensor",
        lambda w: w.add_scalar("t", torch.tensor(0.1, dtype=torch.bfloat16), 1),
        tensorboardX=accepted("tensorboardX cannot read bfloat16"),
    ),
    row(
        "add_scalar",
        "value: a large bfloat16 tensor",
        lambda w: w.add_scalar("t", torch.tensor(1e30, dtype=torch.bfloat16), 1),
        torch=different("torch stores infinity, from float16; we keep the value"),
        tensorboardX=accepted("tensorboardX cannot read bfloat16"),
    ),
    row(
        "add_scalar",
        "value: a tensor that requires gradients",
        lambda w: w.add_scalar("t", torch.tensor(1.5, requires_grad=True) * 2, 1),
    ),
    row(
        "add_scalar",
        "value: a numeric string",
        lambda w: w.add_scalar("t", "0.5", 1),
        tensorboardX=accepted("tensorboardX fails on strings"),
    ),
    row("add_scalar", "value: a word", lambda w: w.add_scalar("t", "much", 1)),
    row("add_scalar", "value: None", lambda w: w.add_scalar("t", None, 1)),
    row("add_scalar", "value: two elements", lambda w: w.add_scalar("t", np.zeros(2), 1)),
    row("add_scalar", "value: no element", lambda w: w.add_scalar("t", np.zeros(0), 1)),
    row(
        "add_scalar",
        "value: a list of one number",
        lambda w: w.add_scalar("t", [0.5], 1),
        torch=accepted("torch takes no lists"),
    ),
    row("add_scalar", "value: a complex number", lambda w: w.add_scalar("t", 1 + 2j, 1)),
    row("add_scalar", "value: an object", lambda w: w.add_scalar("t", object(), 1)),
    *(row("add_scalar", f"step: {what}", lambda w, s=s: w.add_scalar("t", 0.5, s)) for what, s in STEPS.items()),
    *(row("add_scalar", f"step: {what}", lambda w, s=s: w.add_scalar("t", 0.5, s)) for what, s in NO_STEPS.items()),
    row("add_scalar", "step: 2**63", lambda w: w.add_scalar("t", 0.5, 2**63)),
    row("add_scalar", "step left out", lambda w: w.add_scalar("t", 0.5)),
    row("add_scalar", "steps out of order", lambda w: [w.add_scalar("t", s, s) for s in (5, 3, 4, 3)]),
    row("add_scalar", "walltime", lambda w: w.add_scalar("t", 0.5, 1, 1.7e9)),
    row("add_scalar", "walltime: an int", lambda w: w.add_scalar("t", 0.5, 1, walltime=1_700_000_000)),
    row("add_scalar", "walltime: 0", lambda w: w.add_scalar("t", 0.5, 1, walltime=0)),
    row("add_scalar", "walltime: negative", lambda w: w.add_scalar("t", 0.5, 1, walltime=-1.5)),
    row("add_scalar", "walltime: a NumPy float", lambda w: w.add_scalar("t", 0.5, 1, walltime=np.float64(1.7e9))),
    row(
        "add_scalar",
        "walltime: a string",
        lambda w: w.add_scalar("t", 0.5, 1, walltime="1.7e9"),
        torch=NUMERIC,
        tensorboardX=NUMERIC,
    ),
    row("add_scalar", "by name", lambda w: w.add_scalar(tag="t", scalar_value=0.5, global_step=1, walltime=1.7e9)),
    *(row("add_scalar", f"tag: {what}", lambda w, t=t: w.add_scalar(t, 0.5, 1)) for what, t in TAGS.items()),
    *(
        row("add_scalar", f"tag: {what}", lambda w, t=t: w.add_scalar(t, 0.5, 1), tensorboardX=CLEAN)
        for what, t in ODD_TAGS.items()
    ),
    row("add_scalar", "tag: starting with a slash", lambda w: w.add_scalar("/a", 0.5, 1), tensorboardX=CLEAN),
    row("add_scalar", "tag: empty", lambda w: w.add_scalar("", 0.5, 1)),
    row("add_scalar", "tag: 10 000 characters", lambda w: w.add_scalar("a" * 10_000, 0.5, 1)),
    row("add_scalar", "tag: an int", lambda w: w.add_scalar(5, 0.5, 1)),
    row("add_scalar", "tag: None", lambda w: w.add_scalar(None, 0.5, 1)),
    row(
        "add_scalar",
        "tag: a lone surrogate",
        lambda w: w.add_scalar("\ud800", 0.5, 1),
        tensorboardX=refused("no reader could read the tag; tensorboardX writes _"),
    ),
    row("add_scalar", "new_style", lambda w: w.add_scalar("t", 0.1, 1, new_style=True), tensorboardX=None),
    row(
        "add_scalar",
        "new_style, by position",
        lambda w: w.add_scalar("t", torch.tensor(0.1), 1, 1.7e9, True),
        tensorboardX=None,
    ),
    row(
        "add_scalar",
        "new_style and double_precision",
        lambda w: w.add_scalar("t", 0.1, 1, new_style=True, double_precision=True),
        tensorboardX=None,
    ),
    row(
        "add_scalar",
        "double_precision alone",
        lambda w: w.add_scalar("t", 0.1, 1, double_precision=True),
        tensorboardX=None,
    ),
    row("add_scalar", "new_style, NaN", lambda w: w.add_scalar("t", math.nan, 1, new_style=True), tensorboardX=None),
    row(
        "add_scalar",
        "display_name",
        lambda w: w.add_scalar("t", 0.5, 1, display_name="Name"),
        torch=None,
        tensorboardX=DESCRIBED,
    ),
    row(
        "add_scalar",
        "display_name and summary_description, by position",
        lambda w: w.add_scalar("t", 0.5, 1, 1.7e9, "Name", "*what* it is"),
        torch=None,
        tensorboardX=DESCRIBED,
    ),
    row("add_scalars", "two curves", lambda w: w.add_scalars("m", {"a": 1.0, "b": 2}, 3), tensorboardX=ONE_DIRECTORY),
    row(
        "add_scalars",
        "main_tag with a slash",
        lambda w: w.add_scalars("g/m", {"a": 1.0, "b": 2.0}, 3),
        tensorboardX=ONE_DIRECTORY,
    ),
    row(
        "add_scalars",
        "at several steps",
        lambda w: [w.add_scalars("m", {"a": s, "b": -s}, s) for s in range(3)],
        tensorboardX=ONE_DIRECTORY,
    ),
    row("add_scalars", "walltime", lambda w: w.add_scalars("m", {"a": 1.0}, 3, 1.7e9), tensorboardX=ONE_DIRECTORY),
    row(
        "add_scalars",
        "by name",
        lambda w: w.add_scalars(main_tag="m", tag_scalar_dict={"a": 1.0}, global_step=None, walltime=None),
        tensorboardX=ONE_DIRECTORY,
    ),
    row("add_scalars", "no curve", lambda w: w.add_scalars("m", {}, 3)),
    row(
        "add_scalars", "a tensor", lambda w: w.add_scalars("m", {"a": torch.tensor(1.5)}, 3), tensorboardX=ONE_DIRECTORY
    ),
    row("add_scalars", "step: a string", lambda w: w.add_scalars("m", {"a": 1.0}, "3"), tensorboardX=ONE_DIRECTORY),
    row("add_scalars", "step: a fraction", lambda w: w.add_scalars("m", {"a": 1.0}, 2.7), tensorboardX=ONE_DIRECTORY),
    row(
        "add_scalars", "a name with a slash", lambda w: w.add_scalars("m", {"a/b": 1.0}, 3), tensorboardX=ONE_DIRECTORY
    ),
    row(
        "add_scalars",
        "a name that is no string",
        lambda w: w.add_scalars("m", {1: 1.0}, 3),
        torch=NAMED,
        tensorboardX=NAMED,
    ),
    row("add_scalars", "no dictionary", lambda w: w.add_scalars("m", [("a", 1.0)], 3)),
    row("add_scalars", "main_tag: empty", lambda w: w.add_scalars("", {"a": 1.0}, 3), tensorboardX=ONE_DIRECTORY),
    row("add_text", "a text", lambda w: w.add_text("t", "some *text*", 1)),
    row("add_text", "walltime", lambda w: w.add_text("t", "text", 1, 1.7e9)),
    row("add_text", "by name", lambda w: w.add_text(tag="t", text_string="text", global_step=1, walltime=1.7e9)),
    row("add_text", "empty", lambda w: w.add_text("t", "", 1)),
    row("add_text", "not ASCII, several lines", lambda w: w.add_text("t", "größe\n\n| a | b |\n", 1)),
    row("add_text", "a NUL character", lambda w: w.add_text("t", "a\0b", 1)),
    row("add_text", "step left out", lambda w: w.add_text("t", "text")),
    row("add_text", "step: a string", lambda w: w.add_text("t", "text", "3")),
    row("add_text", "step: a fraction", lambda w: w.add_text("t", "text", 2.7)),
    row("add_text", "tag: empty", lambda w: w.add_text("", "text", 1)),
    row("add_text", "tag: with spaces", lambda w: w.add_text("a tag", "text", 1)),
    row("add_text", "an int", lambda w: w.add_text("t", 5, 1)),
    row("add_text", "None", lambda w: w.add_text("t", None, 1)),
    row("add_text", "bytes", lambda w: w.add_text("t", b"text", 1)),
    row(
        "add_text",
        "a lone surrogate",
        lambda w: w.add_text("t", "\ud800", 1),
        torch=UNENCODABLE,
        tensorboardX=UNENCODABLE,
    ),
]
