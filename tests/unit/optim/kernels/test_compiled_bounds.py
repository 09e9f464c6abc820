"""Kernels work with bare addresses: none writes outside the memory that it was given."""

from itertools import product

import numpy as np
import pytest

from optim.kernels.codegen import DTYPES, SHIPPED, kernel_name
from optim.kernels.compiled import ENGINE, is_available
from optim.kernels.stats import ARRAY_WIDTH, BLOCK, stats_width
from optim.kernels.tasks import cut, table
from summaries.native.calls import address
from summaries.native.library import function

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiled code for this machine")

GUARD = 4096  # bytes
SIZES = (5000, 17, 1)
PARTS = cut(SIZES, 1)


class Memory:
    """Arrays with guards around them."""

    def __init__(self):
        self.around = []

    def __call__(self, values):
        raw = np.full(values.nbytes + 2 * GUARD + 64, 0xA5, np.uint8)
        begin = GUARD + -(address(raw) + GUARD) % 64
        inside = raw[begin : begin + values.nbytes].view(values.dtype).reshape(values.shape)
        inside[...] = values
        self.around += [raw[:begin], raw[begin + values.nbytes :]]
        return inside

    @property
    def is_whole(self):
        return all((guard == 0xA5).all() for guard in self.around)


def rows_of(columns, dtype, memory):
    return memory(table(PARTS, [ENGINE.addresses(column) for column in columns], np.dtype(dtype).itemsize))


@pytest.mark.parametrize(("rule", "dtype", "report"), SHIPPED)
def test_a_step(rule, dtype, report):
    memory = Memory()
    columns = [[memory(np.ones(size, dtype)) for size in SIZES] for _ in range(2 + len(rule.slots))]
    rows = rows_of(columns, dtype, memory)
    numbers = memory(np.array([0.5, -0.4, 0.45, *[0.3] * len(rule.hyperparameters)]))
    stats = memory(np.zeros((PARTS.rows, stats_width(len(rule.slots))))) if report else np.zeros((0, 0))
    scratch = memory(np.zeros(BLOCK + 64))
    function(kernel_name(rule, dtype, report))(rows, 0, len(rows), numbers, stats, address(scratch))
    assert memory.is_whole


@pytest.mark.parametrize(("name", "dtype"), list(product(("norm", "gradients", "measure"), DTYPES)))
def test_what_only_reads(name, dtype):
    memory = Memory()
    arrays = [memory(np.ones(size, dtype)) for size in SIZES]
    stats = memory(np.zeros((PARTS.rows, 1 if name == "norm" else ARRAY_WIDTH)))
    rows = rows_of([arrays], dtype, memory)
    function(f"{name}_{dtype}")(rows, 0, len(rows), np.zeros(0), stats, 0)
    assert memory.is_whole
