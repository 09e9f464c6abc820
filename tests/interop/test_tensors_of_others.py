"""torch's and JAX's tensors, where these are installed: neither is imported by us."""

import importlib.util

import numpy as np
import pytest
from helpers import scalars
from interop.every_method import log_everything

from summaries import SummaryWriter, histogram, scalar


def needs(library):
    return pytest.mark.skipif(
        importlib.util.find_spec(library) is None, reason=f"{library} is not installed: it is a peer, no dependency"
    )


@needs("torch")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "bool"])
def test_torch_tensors(logdir, dtype):
    import torch

    one = torch.ones((), dtype=getattr(torch, dtype))
    with SummaryWriter(logdir) as writer:
        writer.add_scalar("a", one, torch.tensor(3))
        writer.add_scalar("a", torch.ones(1, requires_grad=True) * 2, 4)
    assert scalars(writer.path) == [(3, "a", 1.0), (4, "a", 2.0)]
    proto = histogram("h", torch.ones(5, dtype=getattr(torch, dtype))).value[0].histo
    assert (proto.num, proto.sum) == (5, 5)


@needs("torch")
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own tracer says so of itself
def test_every_method_takes_torch_tensors(logdir):
    import torch

    with SummaryWriter(logdir) as writer:
        log_everything(writer, torch.from_numpy)
        writer.add_graph(torch.nn.Linear(2, 3), torch.zeros(1, 2))


@needs("jax")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32", "bool"])
def test_jax_arrays(logdir, dtype):
    import jax.numpy as jnp

    with SummaryWriter(logdir) as writer:
        writer.add_scalar("a", jnp.ones((), dtype), jnp.int32(3))
        log_everything(writer, jnp.asarray)
    assert scalar("a", jnp.ones((1,), dtype)).value[0].simple_value == 1
    assert histogram("h", jnp.ones(5, dtype)).value[0].histo.sum == 5


@pytest.mark.parametrize("value", [np.float32(1.5), np.array([[1.5]]), 1.5])
def test_ours(value):
    assert scalar("a", value).value[0].simple_value == 1.5
