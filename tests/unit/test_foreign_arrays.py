"""Both packages convert what other libraries call arrays: to the same numbers, or they refuse with the same words."""

import array
import subprocess
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from helpers import run_script

from summaries.foreign_arrays import array_like
from summaries.values import as_array, as_float

WANTED = [0.5, 1.0, -2.0]
BOTH = pytest.mark.parametrize(
    "convert", [lambda x: array_like(x, "x"), lambda x: as_array(x, "x")], ids=["optim", "summaries"]
)


class OnlyDlpack:
    """An array of a library that has nothing else in common with NumPy."""

    def __init__(self, values):
        self._values = np.array(values)

    def __dlpack__(self, **options):
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._values.__dlpack_device__()


class OnDevice(OnlyDlpack):
    """An array in memory that NumPy cannot read."""

    def __dlpack__(self, **options):
        raise BufferError("the elements are on a GPU.")


class OnlyArray:
    """An array of a library that knows of NumPy."""

    def __array__(self, dtype=None, copy=None):
        return np.array(WANTED, dtype)


FOREIGN = {
    "a list": WANTED,
    "nested sequences": [tuple(WANTED)],
    "an array": np.array(WANTED),
    "a view": np.array([*WANTED, 0.0])[:-1],
    "big endian": np.array(WANTED, ">f4"),
    "a matrix": np.array([WANTED]).view(np.matrix),
    "array.array": array.array("f", WANTED),
    "a memoryview": memoryview(array.array("d", WANTED)),
    "__array__": OnlyArray(),
    "__dlpack__": OnlyDlpack(WANTED),
    "a masked array without masked elements": np.ma.masked_array(WANTED, [False] * 3),
    "bfloat16": np.array(WANTED, ml_dtypes.bfloat16),
    "float8": np.array(WANTED, ml_dtypes.float8_e4m3fn),
}


@BOTH
@pytest.mark.parametrize("given", FOREIGN.values(), ids=FOREIGN)
def test_the_same_numbers(convert, given):
    found = convert(given)
    assert type(found) is np.ndarray
    assert found.astype(np.float64).reshape(-1).tolist() == WANTED


@BOTH
def test_memory_is_shared(convert):
    given = np.array(WANTED)
    assert convert(given) is given
    for view in (given.reshape(1, 3).view(np.matrix), OnlyDlpack(WANTED), array.array("f", WANTED)):
        found = convert(view)
        assert np.shares_memory(found, convert(view))


def torch_like(name, **members):
    """A tensor of torch's, as far as the conversion looks at it."""

    def unreadable():
        raise RuntimeError(".numpy() is not supported for tensor subclasses.\nNor here.")

    tensor = type(name, (types.SimpleNamespace,), {})(cpu=unreadable, numpy=unreadable)
    tensor.detach = lambda: tensor
    vars(tensor).update(members)
    return tensor


def placed(*replicated, **members):
    """A DTensor with a placement for each dimension of its mesh."""
    placements = [types.SimpleNamespace(is_replicate=lambda answer=answer: answer) for answer in replicated]
    return torch_like("DTensor", full_tensor=None, placements=placements, **members)


PARTS = (
    "x must be a whole tensor, got a DTensor of which this rank holds only a part: pass its full_tensor(), or its "
    "to_local() if the part is enough"
)
UNREADABLE = "x must be a tensor whose elements NumPy can read"
REFUSED = {
    "masked elements": (
        np.ma.masked_array(WANTED, [True, False, False]),
        "x must not be masked: compressed() drops masked elements, filled() replaces them",
    ),
    "a sharded DTensor": (placed(True, False), PARTS),
    "a tensor without memory": (
        torch_like("FakeTensor"),
        f"{UNREADABLE}, got FakeTensor: .numpy() is not supported for tensor subclasses",
    ),
    "a device's memory": (
        OnDevice(WANTED),
        f"{UNREADABLE}, got OnDevice: the elements are on a GPU",
    ),
}


@BOTH
@pytest.mark.parametrize(("given", "words"), REFUSED.values(), ids=REFUSED)
def test_the_same_words(convert, given, words):
    with pytest.raises(TypeError) as raised:
        convert(given)
    assert str(raised.value) == words


@BOTH
def test_a_replicated_tensor_is_whole(convert):
    local = torch_like("Tensor", numpy=lambda: np.array(WANTED))
    assert convert(placed(True, True, to_local=lambda: local)).tolist() == WANTED


def test_a_part_of_a_number_is_refused():
    with pytest.raises(TypeError) as raised:
        as_float(placed(False, shape=(), item=lambda: 1.0), "x")
    assert str(raised.value) == PARTS
    assert as_float(placed(True, to_local=lambda: np.float32(2.5)), "x") == 2.5


TORCH = """
import numpy as np
import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, DTensor, Replicate, Shard, distribute_tensor

from optim import GradientMonitor
from summaries.foreign_arrays import array_like
from summaries import SummaryWriter
from summaries.values import as_array, as_float

dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
mesh = init_device_mesh("cpu", (1,))
x = torch.tensor([0.5, 1.0, -2.0])
with FakeTensorMode():
    fake = torch.ones(3)
read = {
    "requires_grad": x.clone().requires_grad_(),
    "parameter": torch.nn.Parameter(x.clone()),
    "computed": x.clone().requires_grad_() * 1,
    "bfloat16": x.bfloat16().requires_grad_(),
    "bfloat16, sparse": x.bfloat16().to_sparse(),
    "float8_e4m3fn": x.to(torch.float8_e4m3fn),
    "float8_e5m2": x.to(torch.float8_e5m2),
    "sparse": x.to_sparse(),
    "csr": x.reshape(1, 3).to_sparse_csr(),
    "negated view": torch._neg_view(-x),
    "replicated": distribute_tensor(x, mesh, [Replicate()]),
}
refused = {
    "sharded": distribute_tensor(x, mesh, [Shard(0)]),
    "partial": DTensor.from_local(x, mesh, [Partial()]),
    "meta": torch.ones(3, device="meta"),
    "fake": fake,
    "nested": torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged),
    "quantized": torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
}
for name, tensor in read.items():
    for convert in (array_like, as_array):
        found = convert(tensor)
        assert type(found) is np.ndarray, name
        assert found.astype(np.float64).reshape(-1).tolist() == [0.5, 1.0, -2.0], (name, found)
assert array_like(read["bfloat16"]).dtype.name == "bfloat16"
assert array_like(read["float8_e5m2"]).dtype.name == "float8_e5m2"
assert np.shares_memory(array_like(read["requires_grad"]), array_like(read["requires_grad"]))


def words_of(convert, tensor):
    try:
        convert(tensor, "x")
    except TypeError as error:
        return str(error)


for name, tensor in refused.items():
    words = words_of(array_like, tensor)
    assert words == words_of(as_array, tensor), name
    assert words.startswith("x must be a "), (name, words)
    assert ("full_tensor()" in words) == (name in {"sharded", "partial"}), words
assert "full_tensor()" in words_of(as_float, DTensor.from_local(x.sum(), mesh, [Partial()]))
assert as_float(distribute_tensor(x.sum(), mesh, [Replicate()])) == -0.5

with SummaryWriter(LOGDIR) as writer:
    monitor = GradientMonitor(writer)
    whole = monitor.observe(1, {"w": refused["sharded"]})  # ranks sum what they hold
    assert abs(whole.global_norm - 5.25**0.5) < 1e-12, whole
    report = monitor.observe(1, {"w": refused["sharded"].to_local()}, global_norm=5.0, clip_norm=1.0)
    assert report.global_norm == 5.0
dist.destroy_process_group()
print("done")
"""


def available(*modules):
    """Whether a Python can import them; asked in a process of its own, which they leave with all they brought."""
    code = "; ".join(f"import {module}" for module in modules)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_torch_tensors(tmp_path):
    if not available("torch.distributed.tensor"):
        pytest.skip("torch with DTensor is not installed: it is a peer, no dependency")
    assert run_script(tmp_path, TORCH.replace("LOGDIR", repr(str(tmp_path / "run")))).endswith("done\n")


@BOTH
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float32"])
def test_jax_arrays(convert, dtype):
    jax = pytest.importorskip("jax", reason="jax is not installed: it is a peer, no dependency")
    found = convert(jax.numpy.array(WANTED, dtype))
    assert found.astype(np.float64).tolist() == WANTED


@BOTH
def test_a_series_of_pandas(convert):
    pandas = pytest.importorskip("pandas", reason="the extra `pandas` is not installed")
    assert convert(pandas.Series(WANTED)).tolist() == WANTED
