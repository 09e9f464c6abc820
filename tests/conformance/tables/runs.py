"""add_hparams, add_custom_scalars and its two charts, add_graph, add_onnx_graph."""

from pathlib import Path

import numpy as np
import torch
from conformance.observing import by_tensorboard, trials
from conformance.rows import accepted, calls, different, refused, row

RATES = {"lr": 0.1, "bs": 32, "opt": "adam"}
METRICS = {"hparam/accuracy": 0.9, "hparam/loss": 0.5}
LAYOUT = {"group": {"lines": ["Multiline", ["loss", "accuracy"]], "band": ["Margin", ["mid", "low", "high"]]}}

ITSELF = different("the first set goes to the run itself, not to a run below it; further sets go below")
TRUTH = different("True is stored as a truth value; torch stores 1.0")
LEFT_OUT = refused("a list is refused, as torch does; tensorboardX leaves it out")
ONCE = different("metadata is written once per tag, as TF1 does; it holds for the whole run")
LAYERS = different("every layer is a node with its own type; tensorboardX has only those with an input, and no types")
ANY = accepted("values of other types are stored as text; torch raises an error")
PLACEHOLDERS = different(
    "inputs are placeholders, and outputs are nodes of their own; the originals call inputs variables"
)
PROFILER = different("the times are under the name step1, as torch has it; tensorboardX says profiler")


def five_trials(w):
    """The example of torch's documentation."""
    for i in range(5):
        w.add_hparams({"lr": 0.1 * i, "bsize": i}, {"hparam/accuracy": 10 * i, "hparam/loss": 10 * i})


def module():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))


def onnx_model(w, name="prototxt"):
    """Log a model of one node; the argument's name differs between the libraries."""
    from onnx import TensorProto, helper, save

    a, b = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "ab")
    save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["a"], ["b"])], "g", [a], [b])), "model.onnx")
    w.add_onnx_graph(**{name: "model.onnx"})


hparams = calls("add_hparams", view=trials)

MODEL = """<net><layers><layer id="0" name="x" type="Parameter"/><layer id="1" name="y" type="ReLU"/></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>"""


def openvino_model(w):
    """Log a model of two layers."""
    Path("model.xml").write_text(MODEL, encoding="utf-8")
    w.add_openvino_graph("model.xml")


HPARAMS = [
    hparams("a trial", RATES, METRICS),
    hparams("in which run", RATES, METRICS, view=None, torch=ITSELF, tensorboardX=ITSELF),
    hparams("run_name", RATES, METRICS, run_name="trial", view=None, tensorboardX=None),
    hparams("name", RATES, METRICS, name="trial", view=None, torch=None),
    hparams("run_name, by position", RATES, METRICS, None, "trial", 3, view=None, tensorboardX=None),
    hparams("name, by position", RATES, METRICS, "trial", 3, torch=None),
    hparams("global_step", RATES, METRICS, global_step=7),
    hparams(
        "global_step in a named run", RATES, METRICS, run_name="trial", global_step=7, view=None, tensorboardX=None
    ),
    hparams("hparam_domain_discrete", RATES, METRICS, {"opt": ["adam", "sgd"], "bs": [16, 32]}, tensorboardX=None),
    hparams(
        "hparam_domain_discrete in a named run",
        {"opt": "adam", "bs": 32},
        METRICS,
        {"opt": ["adam", "sgd"], "bs": [16, 32]},
        "trial",
        view=None,
        tensorboardX=None,
    ),
    hparams("a domain of another type", RATES, METRICS, {"opt": [1, 2]}, tensorboardX=None),
    hparams(
        "a domain of no hyperparameter",
        RATES,
        METRICS,
        {"other": ["a"]},
        torch=accepted("domains of other hyperparameters say nothing, and are left out"),
        tensorboardX=None,
    ),
    hparams("a truth value", {"flag": True, "off": False}, METRICS, torch=TRUTH),
    hparams("None", {"lr": 0.1, "warmup": None}, METRICS),
    hparams("a tensor", {"lr": torch.tensor([0.1])}, METRICS, tensorboardX=None),
    hparams("a list", {"layers": [1, 2]}, METRICS, tensorboardX=LEFT_OUT),
    hparams("a function", {"activation": abs}, METRICS, torch=ANY),
    hparams("a NumPy number", {"lr": np.float64(0.1)}, METRICS),
    hparams("no hyperparameters", {}, METRICS),
    hparams("no metrics", RATES, {}),
    hparams("metrics that are tensors", RATES, {"hparam/accuracy": torch.tensor(0.5)}),
    hparams("an int as a metric", RATES, {"hparam/accuracy": 1}),
    hparams("None as a metric", RATES, {"hparam/accuracy": None}),
    hparams("no dictionary", [("lr", 0.1)], METRICS),
    hparams("metrics that are no dictionary", RATES, [1]),
    row("add_hparams", "five times: five trials", five_trials, view=trials),
    row(
        "add_hparams",
        "twice, each with a run_name",
        lambda w: [w.add_hparams(RATES | {"lr": lr}, METRICS, run_name=f"lr{lr}") for lr in (0.1, 0.2)],
        tensorboardX=None,
    ),
    row(
        "add_hparams",
        "twice with one run_name",
        lambda w: ([w.add_hparams(RATES, {"hparam/loss": loss}, run_name="trial", global_step=1) for loss in (2, 1)]),
        tensorboardX=None,
        view=by_tensorboard,
    ),
    row(
        "add_hparams",
        "by name",
        lambda w: w.add_hparams(hparam_dict=RATES, metric_dict=METRICS, global_step=None),
        view=trials,
    ),
    row(
        "add_hparams",
        "after scalars of the run",
        lambda w: [w.add_scalar("loss", 1.0, 0), w.add_hparams(RATES, METRICS)],
        view=lambda root: [hyperparameters for hyperparameters, _ in trials(root)],
    ),
]

LAYOUTS = [
    row("add_custom_scalars", "a layout", lambda w: w.add_custom_scalars(LAYOUT)),
    row("add_custom_scalars", "by name", lambda w: w.add_custom_scalars(layout=LAYOUT)),
    row("add_custom_scalars", "empty", lambda w: w.add_custom_scalars({})),
    row(
        "add_custom_scalars",
        "twice",
        lambda w: [w.add_custom_scalars(LAYOUT) for _ in range(2)],
        torch=ONCE,
        tensorboardX=ONCE,
    ),
    row(
        "add_custom_scalars",
        "a margin of two tags",
        lambda w: w.add_custom_scalars({"g": {"b": ["Margin", ["a", "b"]]}}),
    ),
    row("add_custom_scalars_multilinechart", "tags", lambda w: w.add_custom_scalars_multilinechart(["a", "b"])),
    row(
        "add_custom_scalars_multilinechart",
        "category and title",
        lambda w: w.add_custom_scalars_multilinechart(["a", "b"], "category", title="title"),
    ),
    row("add_custom_scalars_marginchart", "three tags", lambda w: w.add_custom_scalars_marginchart(["a", "b", "c"])),
    row(
        "add_custom_scalars_marginchart",
        "category and title",
        lambda w: w.add_custom_scalars_marginchart(["a", "b", "c"], "category", title="title"),
    ),
    row("add_custom_scalars_marginchart", "two tags", lambda w: w.add_custom_scalars_marginchart(["a", "b"])),
]

GRAPHS = [
    row("add_graph", "a module", lambda w: w.add_graph(module(), torch.zeros(1, 2)), tensorboardX=PROFILER),
    row(
        "add_graph",
        "verbose and use_strict_trace, by position",
        lambda w: w.add_graph(module(), torch.zeros(1, 2), False, False),
        tensorboardX=PROFILER,
    ),
    row(
        "add_graph",
        "by name",
        lambda w: w.add_graph(model=module(), input_to_model=torch.zeros(1, 2), verbose=False, use_strict_trace=True),
        tensorboardX=PROFILER,
    ),
    row("add_graph", "inputs in a tuple", lambda w: w.add_graph(module(), (torch.zeros(1, 2),)), tensorboardX=PROFILER),
    row("add_graph", "inputs of another shape", lambda w: w.add_graph(module(), torch.zeros(1, 5))),
    row("add_graph", "no inputs", lambda w: w.add_graph(module())),
    row("add_graph", "no module", lambda w: w.add_graph(5)),
    row("add_onnx_graph", "a file", onnx_model, torch=PLACEHOLDERS, tensorboardX=None),
    row(
        "add_onnx_graph",
        "a file, under tensorboardX's name",
        lambda w: onnx_model(w, "onnx_model_file"),
        torch=None,
        tensorboardX=PLACEHOLDERS,
    ),
    row("add_openvino_graph", "a file", openvino_model, torch=None, tensorboardX=LAYERS),
    row("add_openvino_graph", "no such file", lambda w: w.add_openvino_graph(xmlname="absent.xml"), torch=None),
    row("add_onnx_graph", "no such file", lambda w: w.add_onnx_graph("absent.onnx")),
]

ROWS = [*HPARAMS, *LAYOUTS, *GRAPHS]
