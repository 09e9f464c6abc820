"""One result: a summary's bytes do not depend on the path, on pieces, threads, the process's history, or the machine.

Sums are also compared with their definition in `summaries.kinds.sums`, one addition after another, and with math.fsum.
"""

import json
import math
import os
from itertools import product

import numpy as np
import pytest
from helpers import run
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from summaries.kinds import counting, sums
from summaries.native import library

PATHS = ("plain", "compiled")
ODD = [0.0, -0.0, 1e-45, 1e20, 3e38, -3e38, math.nan, math.inf, -math.inf]


@pytest.fixture(autouse=True)
def _need_compiled_code():
    if not library.is_available():
        pytest.skip("there is no compiled code to compare with")


def told(tally):
    """All of a tally, so that NaN equals NaN and -0.0 is not 0.0."""
    return tally.counts.tolist(), *map(repr, tally[1:])


def each_way(array):
    """The array's tally on each path, cut and shared in several ways."""
    with pytest.MonkeyPatch.context() as patch:
        for path, blocks, shared in product(PATHS, (1, 3, 32), (1, 1 << 40)):
            patch.setattr(counting, "_PIECE", blocks * sums.BLOCK)
            patch.setattr(counting, "_SHARED", shared)
            library.use(path)
            try:
                yield counting.count(array)
            finally:
                library.use(None)


def as_defined(numbers):
    """The sum of numbers by the definition."""
    blocks = []
    for start in range(0, len(numbers), sums.BLOCK):
        lanes = [0.0] * sums.LANES
        for place, number in enumerate(numbers[start : start + sums.BLOCK]):
            lanes[place % sums.LANES] += number
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [one + two for one, two in zip(lanes[:half], lanes[half:], strict=True)]
        blocks += lanes
    return math.fsum(blocks)


def some_floats(dtype):
    """Arrays of any floats, of up to three blocks: what is drawn is repeated, each time a bit smaller."""
    width = np.dtype(dtype).itemsize * 8
    elements = st.floats(width=width) | st.sampled_from(np.array(ODD, dtype).tolist())
    drawn = arrays(dtype, st.integers(1, 40), elements=elements)
    return st.builds(
        lambda values, size: np.resize(values, size) * (1 - np.arange(size) / 2**14).astype(dtype),
        drawn,
        st.integers(1, 3 * sums.BLOCK),
    )


@given(some_floats(np.float32) | some_floats(np.float64))
def test_any_floats_each_way(array):
    first, *others = map(told, each_way(array))
    assert all(other == first for other in others)


@given(some_floats(np.float32) | some_floats(np.float64))
def test_sums_are_as_defined_and_near_the_exact_ones(array):
    numbers = np.where(np.isfinite(array), array, 0).astype(np.float64)
    assume(np.abs(numbers).max() < 1e150)
    found = counting.count(np.where(np.isfinite(array), array, array.dtype.type(0)))
    numbers = numbers.tolist()
    squares = [number * number for number in numbers]
    assert (found.total, found.squares) == (as_defined(numbers), as_defined(squares))
    error = 262 * 2.0**-53
    assert abs(found.total - math.fsum(numbers)) <= error * math.fsum(map(abs, numbers))
    assert abs(found.squares - math.fsum(squares)) <= error * math.fsum(squares)


@pytest.mark.parametrize("size", [counting._SHARED - 1, counting._SHARED + 4_097])
def test_a_large_array_each_way(size):
    array = np.ldexp(np.random.default_rng(0).integers(-(2**30), 2**30, size) / 2**30, np.arange(size) % 40)
    array[[3, -1]] = math.nan, math.inf
    first, *others = map(told, each_way(array))
    assert all(other == first for other in others)


@pytest.mark.parametrize("values", [[1e308] * 40, [1e308] * 9_000, [1e308] * 40 + [-1e308] * 40, [math.inf, -1e308]])
def test_sums_beyond_float64(values):
    first, *others = map(told, each_way(np.array(values)))
    assert all(other == first for other in others)


def test_a_sum_is_nan_only_between_infinities():
    assert [sums.add_up(blocks) for blocks in ([1e308, 1e308], [-math.inf, 1.0])] == [math.inf, -math.inf]
    nan = sums.add_up([math.inf, -math.inf])
    assert math.isnan(nan)
    assert math.copysign(1, nan) == 1
    assert math.isnan(sums.add_up([-math.nan]))


def features():
    """What NumPy's code for newer processors is called."""
    return " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))


PROCESSES = {  # the arguments of `every_kind`, and what is set; each imports much, so that it differs in several ways
    "plain, and after everything else": (("2", "1"), {"GRADLEDGER_KERNELS": "plain"}),
    "one old processor": (
        ("1",),
        {"OPENBLAS_NUM_THREADS": "1", "OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": features()},
    ),
    "plain, another processor": ((), {"OPENBLAS_CORETYPE": "Haswell", "GRADLEDGER_KERNELS": "plain"}),
}


def digests(arguments, variables):
    """What `every_kind` prints: the digests of a fresh process, and perhaps of one that has made everything before."""
    pytest.importorskip("PIL", reason="needs the extra `images`")
    pytest.importorskip("matplotlib", reason="needs the extra `images`")
    ours = ("GRADLEDGER_KERNELS", "OPENBLAS_NUM_THREADS")  # what all tests have: see conftest.py
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    return json.loads(run("tests/properties/every_kind.py", *arguments, env=inherited | variables))


def differences(found, wanted):
    assert found.keys() == wanted.keys()
    return {name: found[name] for name in wanted if found[name] != wanted[name]}


@pytest.fixture(scope="module")
def compiled():
    """The digests of a process that makes each kind with compiled code, and then once more in another order."""
    return digests(("2", "0"), {})


def test_every_kind_after_everything_else(compiled):
    fresh, again = compiled
    assert differences(again, fresh) == {}


@pytest.mark.parametrize(("arguments", "variables"), PROCESSES.values(), ids=PROCESSES)
def test_every_kind_in_every_process(arguments, variables, compiled):
    for found in digests(arguments, variables):
        assert differences(found, compiled[0]) == {}
