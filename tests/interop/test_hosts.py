"""torch's tensors in the host's memory, measured at their addresses: the same as NumPy arrays of their elements."""

import numpy as np
import pytest

from optim.kernels import compiled
from optim.kernels.stats import ARRAY_WIDTH, LARGEST, NONFINITE, SQUARES, SUM, ZEROS
from optim.telemetry.hosts import measure_at_hand

torch = pytest.importorskip("torch", reason="torch is not installed")

COLUMNS = {"squares": [SQUARES], "gradient": [SQUARES, ZEROS, NONFINITE], "slot": [SQUARES, SUM, LARGEST]}
BASE = torch.arange(-12.0, 12.0).reshape(4, 6)
ODD = {
    "transposed": BASE.T,
    "every second": BASE[:, ::2],
    "expanded": BASE[:1].expand(5, 6),
    "negative view": torch._neg_view(BASE),
    "imaginary part": torch.complex(BASE, BASE).conj().imag,
    "bfloat16": BASE.bfloat16(),
    "float16": BASE.half(),
    "float64": BASE.double(),
    "sparse": BASE.to_sparse(),
    "without elements": torch.empty(0, 3),
    "one element": torch.tensor(2.5),
    "not aligned": torch.frombuffer(bytearray(b"\0" + BASE.numpy().tobytes()), dtype=torch.float32, offset=1),
    "requires gradients": BASE.clone().requires_grad_(),
    "parameter": torch.nn.Parameter(BASE.clone()),
    "infinite": torch.tensor([1.0, torch.inf, torch.nan]),
}


def plain(tensor):
    return tensor.detach().to_dense().double().resolve_neg().clone().numpy()


def wanted(tensor):
    array = plain(tensor)
    row = np.zeros(ARRAY_WIDTH)
    row[[SQUARES, SUM, LARGEST]] = (array**2).sum(), array.sum(), array.max(initial=-np.inf)
    row[[ZEROS, NONFINITE]] = (array == 0).sum(), (~np.isfinite(array)).sum()
    return row


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("tensor", ODD.values(), ids=ODD)
def test_every_kind_of_tensor(tensor, kind):
    tensors = [BASE, tensor, BASE + 1]
    table = np.zeros((3, ARRAY_WIDTH))
    assert measure_at_hand(tensors, [kind], table) == ([24, tensor.numel(), 24], [])
    columns = COLUMNS[kind] if torch.isfinite(tensor.detach().to_dense()).all() else COLUMNS[kind][:1]
    np.testing.assert_allclose(table[:, columns], [wanted(one)[columns] for one in tensors], rtol=1e-6)


def test_zeros_without_memory_are_refused():
    tensors = [BASE, torch._efficientzerotensor((4, 6))]
    with pytest.raises(TypeError, match=r"^gradients must be a tensor whose elements NumPy can read, got Tensor: "):
        measure_at_hand(tensors, ["squares"], np.zeros((2, ARRAY_WIDTH)))


def test_several_kinds_and_many_elements():
    rng = np.random.default_rng(0)
    tensors = [torch.from_numpy(rng.random(size, np.float32)) for size in (5, 200_000) for _ in range(4)]
    gradients, weights, slots = tensors[:2], tensors[4:6], tensors[6:]
    table = np.zeros((6, ARRAY_WIDTH))
    sizes, elsewhere = measure_at_hand(gradients + weights + slots, ["gradient", "squares", "slot"], table)
    assert (sizes, elsewhere) == ([5, 5, *[200_000] * 4], [])
    kinds = np.repeat(["gradient", "squares", "slot"], 2)
    for row, tensor, kind in zip(table, gradients + weights + slots, kinds, strict=True):
        np.testing.assert_allclose(row[COLUMNS[kind]], wanted(tensor)[COLUMNS[kind]], rtol=1e-5)


def test_plain_tensors_are_not_converted(monkeypatch):
    if not compiled.is_available():
        pytest.skip("there is no compiled code for this machine")
    monkeypatch.setattr("optim.telemetry.hosts.on_host", lambda _: pytest.fail("converted"))
    measure_at_hand([BASE, torch.nn.Parameter(BASE)], ["gradient"], np.zeros((2, ARRAY_WIDTH)))


def test_without_compiled_kernels(monkeypatch):
    monkeypatch.setattr(compiled, "is_available", lambda: False)
    table = np.zeros((2, ARRAY_WIDTH))
    measure_at_hand([BASE, torch.nn.Parameter(BASE)], ["gradient"], table)
    assert table[:, SQUARES].tolist() == [wanted(BASE)[SQUARES]] * 2


def test_elements_elsewhere():
    class Elsewhere(torch.Tensor):
        is_cpu = is_meta = False

    away = BASE.as_subclass(Elsewhere)
    table = np.zeros((2, ARRAY_WIDTH))
    assert measure_at_hand([away, BASE], ["squares"], table) == ([24, 24], [0])
    assert table[:, SQUARES].tolist() == [0.0, wanted(BASE)[SQUARES]]
