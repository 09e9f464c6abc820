"""GradientMonitor beside torch and JAX: their gradients, on their loops, and the two examples."""

from functools import partial

import numpy as np
import pytest
from helpers import ROOT, run

from optim import GradientMonitor
from optim.telemetry.trees import gradients_by_name
from summaries import SummaryWriter, read_run


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason="JAX is not installed")


@pytest.mark.parametrize("give", ["module", "parameters", "gradients"])
def test_torch_module(torch, logdir, give):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    model[2].bias.requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters())
    wanted = []
    with SummaryWriter(logdir) as writer:
        monitor = GradientMonitor(writer)
        for step in range(1, 4):
            loss = (model(torch.randn(32, 8)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            trained = {name: p for name, p in model.named_parameters() if p.grad is not None}
            given = {
                "module": (model,),
                "parameters": (model.named_parameters(),),
                "gradients": ({name: p.grad for name, p in trained.items()}, dict(model.named_parameters())),
            }[give]
            report = monitor.observe(step, *given, clip_norm=0.1, loss=loss)
            values = {f"gradients/norm/{name}": float(p.grad.norm()) for name, p in trained.items()}
            values |= {f"weights/norm/{name}": float(p.detach().norm()) for name, p in trained.items()}
            values |= {f"gradients/zero_fraction/{n}": float((p.grad == 0).float().mean()) for n, p in trained.items()}
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            wanted.append(values | {"gradients/global_norm": float(norm), "train/loss": loss.item()})
            assert report.global_norm == pytest.approx(float(norm), rel=1e-5)
            assert report.clipped == (norm > 0.1)
            optimizer.step()
    found = read_run(writer.path).scalars
    assert not [tag for tag in found if tag.endswith("2.bias")]
    for tag in wanted[0]:
        np.testing.assert_allclose(found[tag].value, [values[tag] for values in wanted], rtol=1e-5, err_msg=tag)


def test_torch_tensors_of_every_kind(torch):
    half = torch.tensor([1.0, 2.0], dtype=torch.bfloat16, requires_grad=True)
    rows = torch.sparse_coo_tensor([[1]], [[1.0, 2.0]], (3, 2), check_invariants=True)
    strided = torch.arange(6.0).reshape(2, 3).T
    found, parameters = gradients_by_name({"half": half, "rows": rows, "strided": strided})
    assert parameters == {}
    assert {name: leaf.to_dense().tolist() for name, leaf in found.items()} == {
        "half": [1, 2],
        "rows": [[0, 0], [1, 2], [0, 0]],
        "strided": [[0, 3], [1, 4], [2, 5]],
    }


def test_torch_parameters_that_are_shared(torch):
    """Each once, under its first name, as torch has them; those of a wrapper that names them anew, too."""
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    model[1].weight = model[0].weight
    model(torch.ones(2, 4)).sum().backward()
    for module in (model, torch.nn.DataParallel(model)):
        found, parameters = gradients_by_name(module)
        assert list(found) == list(parameters) == [name for name, _ in model.named_parameters()]
        assert parameters["0.weight"] is model[1].weight
    assert [*gradients_by_name(torch.nn.ReLU())] == [{}, {}]


def test_torch_without_gradients(torch, logdir):
    with (
        SummaryWriter(logdir) as writer,
        pytest.raises(ValueError, match=r"^gradients must contain at least one array, got none; if the framework"),
    ):
        GradientMonitor(writer).observe(1, torch.nn.Linear(2, 2))


def test_jax_pytrees(jax, logdir):
    jnp = jax.numpy

    @partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=[])
    class Layer:
        def __init__(self, w, b):
            self.w, self.b = w, b

    layer = Layer(jnp.array([3.0, 0.0], jnp.bfloat16), {"inner": jnp.array(4.0)})
    found, _ = gradients_by_name({"layers": [layer, None]})
    assert {name: array.tolist() for name, array in found.items()} == {
        "layers/0/w": [3, 0],
        "layers/0/b/inner": 4,
    }
    with SummaryWriter(logdir) as writer:
        report = GradientMonitor(writer).observe(jnp.array(7), {"layers": [layer]}, loss=jnp.array(0.5))
    assert (report.step, report.global_norm, report.loss) == (7, 5.0, 0.5)
    assert read_run(writer.path).scalars["gradients/zero_fraction/layers/0/w"].value.tolist() == [0.5]


TAGS = {
    "torch": {"gradients/clipped_fraction", "gradients/norm/0.weight", "weights/norm/2.bias", "train/learning_rate"},
    "jax": {"gradients/norm/hidden/w", "updates/ratio/out", "slots/velocity/max/hidden/b", "train/loss"},
}


@pytest.mark.parametrize("library", TAGS)
def test_the_example(library, logdir, request):
    request.getfixturevalue(library)
    run(ROOT / f"examples/monitor_{library}.py", logdir)
    scalars = read_run(logdir).scalars
    assert TAGS[library] <= set(scalars)
    assert {len(series) for tag, series in scalars.items() if "per_sec" not in tag} == {100}
    assert scalars["train/loss"].value[-1] < 0.7 * scalars["train/loss"].value[0]


def test_tensorboard_sees_every_step_of_an_incident(logdir):
    accumulators = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with SummaryWriter(logdir) as writer, GradientMonitor(writer, 100, keep_last=40) as monitor:
        for step in range(1, 121):
            monitor.observe(step, {"w": np.float32([np.nan if step == 90 else 3, 4])}, loss=1.0)
    incident = accumulators.EventAccumulator(str(logdir / "incident=90")).Reload()
    for tag in ("gradients/global_norm", "gradients/norm/w", "train/loss"):
        assert [event.step for event in incident.Scalars(tag)] == list(range(51, 101)), tag
    (event,) = incident.Tensors("incident/text_summary")
    assert (event.step, event.tensor_proto.string_val[0]) == (90, b"gradients are not finite")
