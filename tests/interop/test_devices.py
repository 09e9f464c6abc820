"""Statistics that torch and JAX compute on their devices: those of our kernels. The devices here are processors."""

import numpy as np
import pytest
from helpers import run

from optim.kernels.measure import measure
from optim.kernels.stats import LARGEST, NONFINITE, SQUARES, SUM, ZEROS
from optim.telemetry import rows as telemetry_rows
from optim.telemetry.devices import jax_statistics, torch_statistics

ARRAYS = {
    "usual": np.random.default_rng(0).standard_normal((5, 7)),
    "zeros": np.maximum(np.random.default_rng(1).standard_normal(100), 0),
    "all zero": np.zeros(3),
    "empty": np.zeros((0, 3)),
    "one": np.array(-2.5),
    "large": np.array([3e25, 4e25]),
    "small": np.array([3e-25, 4e-25, 0]),
    "infinite": np.array([1.0, np.inf]),
    "nan": np.array([np.nan, 1.0, -np.inf]),
}


def rows(dtype="float32"):
    arrays = [np.asarray(array, dtype) for array in ARRAYS.values()]
    return arrays, measure(arrays)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.mark.parametrize("together", [1 << 24, 1 << 11])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_torch(torch, dtype, together, monkeypatch):
    """Also in pieces of two rows, of which a large tensor takes several."""
    monkeypatch.setattr(telemetry_rows, "_TOGETHER", together)
    arrays, _ = rows()
    arrays += [np.random.default_rng(2).standard_normal(5000).clip(0), np.ones((3, 1024)), np.full(2048, np.nan)]
    tensors = [torch.from_numpy(array).to(getattr(torch, dtype)) for array in arrays]
    wanted = measure([tensor.double().numpy() for tensor in tensors])
    found = torch_statistics(tensors, ["gradient"] * len(tensors)).value()
    np.testing.assert_allclose(np.sqrt(found[:, SQUARES]), np.sqrt(wanted[:, SQUARES]), rtol=2e-6)
    np.testing.assert_array_equal(found[:, [ZEROS, NONFINITE]], wanted[:, [ZEROS, NONFINITE]])
    slots = torch_statistics(tensors, ["slot"] * len(tensors)).value()
    finite = np.isfinite(wanted[:, SQUARES])
    np.testing.assert_allclose(slots[finite][:, [SUM, LARGEST]], wanted[finite][:, [SUM, LARGEST]], rtol=1e-12)


def test_torch_mixed_dtypes_kinds_and_sparse(torch):
    tensors = [torch.tensor([3.0, 4.0]), torch.tensor([6.0, 8.0], dtype=torch.bfloat16), torch.tensor([1.0]).double()]
    tensors.append(torch.sparse_coo_tensor([[1, 1]], [5.0, 7.0], (3,), check_invariants=True))
    found = torch_statistics(tensors, ["squares", "gradient", "slot", "gradient"]).value()
    assert found[:, SQUARES].tolist() == [25, 100, 1, 144]
    assert found[3, ZEROS] == 2
    assert found[2, [SUM, LARGEST]].tolist() == [1, 1]


def test_jax():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    arrays, wanted = rows()
    found = jax_statistics([jax.numpy.asarray(array) for array in arrays])
    np.testing.assert_allclose(np.sqrt(found[:, SQUARES]), np.sqrt(wanted[:, SQUARES]), rtol=2e-6)
    np.testing.assert_array_equal(found[:, [ZEROS, NONFINITE]], wanted[:, [ZEROS, NONFINITE]])


SHARDED = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from optim import GradientMonitor

whole = np.random.default_rng(0).standard_normal((4, 6)).astype("float32")
mesh = jax.make_mesh((2,), ("data",))
placed = {
    "sharded": jax.device_put(whole, NamedSharding(mesh, PartitionSpec("data"))),
    "replicated": jax.device_put(whole, NamedSharding(mesh, PartitionSpec())),
    "on one device": jax.device_put(whole, jax.devices()[1]),
    "host": whole,
}
report = GradientMonitor(None).observe(1, placed, placed)
norm = float(np.linalg.norm(whole.astype("float64")))
for variable in report.variables:
    assert abs(variable.gradient_norm / norm - 1) < 1e-6, variable
    assert abs(variable.weight_norm / norm - 1) < 1e-6, variable
assert abs(report.global_norm / (2 * norm) - 1) < 1e-6
print("right")
"""


def test_jax_arrays_on_several_devices():
    pytest.importorskip("jax", reason="JAX is not installed")
    assert run("-c", SHARDED) == "right\n"
