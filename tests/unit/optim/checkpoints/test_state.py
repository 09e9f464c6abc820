"""Entries of a checkpoint: under which name an array is kept, and who takes it when it is restored."""

import numpy as np
import pytest

from optim import Variable
from optim.checkpoints.state import CheckpointArray


@pytest.mark.parametrize(("given", "name"), [((), "w"), (("total",), "total")], ids=["its own name", "another"])
def test_of_variable(given, name):
    variable = Variable([1.0, 2.0], name="w")
    entry = CheckpointArray.of_variable(variable, *given)
    assert entry.name == name
    assert entry.value.tolist() == [1, 2]
    assert not entry.grows
    entry.assign(np.float32([3, 4]))
    assert variable.value.tolist() == [3, 4]


def test_of_count():
    counts = []
    entry = CheckpointArray.of_count("steps", 7, counts.append)
    assert (entry.name, entry.value.tolist(), entry.value.dtype, entry.value.shape) == ("steps", 7, np.int64, ())
    entry.assign(np.array(9))
    assert counts == [9]
    assert type(counts[0]) is int
