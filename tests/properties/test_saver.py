"""Whatever a Saver saves comes back, bit for bit, in a process that begins with other values."""

import tempfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import optim
from optim import Saver, Variable

pytest.importorskip("safetensors", reason="the extra `checkpoint` is not installed")

DTYPES = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="="),
    arrays.unsigned_integer_dtypes(endianness="="),
    arrays.floating_dtypes(sizes=(16, 32, 64), endianness="="),
)
ANY = arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter("__metadata__".__ne__)


@settings(max_examples=25, deadline=None)
@given(st.dictionaries(NAMES, ANY, min_size=1, max_size=5))
def test_any_arrays_under_any_names(content):
    with tempfile.TemporaryDirectory() as directory:
        path = Saver([Variable(a, name=name, dtype=a.dtype) for name, a in content.items()]).save(f"{directory}/m")
        others = {name: Variable(np.zeros_like(a), name=name, dtype=a.dtype) for name, a in content.items()}
        Saver(list(others.values())).restore(path)
    for name, a in content.items():
        assert others[name].value.tobytes() == a.tobytes()
        assert (others[name].shape, others[name].dtype) == (a.shape, a.dtype)


@settings(max_examples=15, deadline=None)
@given(
    steps=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=8), cut=st.integers(0, 8)
)  # fmt: skip
def test_variables_that_get_gradients_at_different_times(steps, cut):
    """Slots are made one by one; a checkpoint has those that there are, and the run goes on with the others."""

    def begin():
        variables = [Variable([1.0, 2.0], name=name) for name in "abc"]
        optimizer = optim.AdamOptimizer(0.1)
        return variables, optimizer, Saver([*variables, optimizer])

    def go(variables, optimizer, chosen):
        for number, which in enumerate(chosen):
            pairs = [(np.full(2, number + 1, np.float32), v) for v, yes in zip(variables, which, strict=True) if yes]
            if pairs:
                optimizer.apply_gradients(pairs)

    variables, optimizer, saver = begin()
    go(variables, optimizer, steps[:cut])
    others, other, other_saver = begin()
    go(others, other, [[True] * 3])  # what it has made by then is taken back
    with tempfile.TemporaryDirectory() as directory:
        other_saver.restore(saver.save(f"{directory}/m"))
    for parts in ((variables, optimizer), (others, other)):
        go(*parts, steps[cut:])
    for one, same in zip([*variables, *optimizer.variables()], [*others, *other.variables()], strict=True):
        assert (one.name, one.value.tobytes()) == (same.name, same.value.tobytes())
