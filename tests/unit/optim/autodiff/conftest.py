import numpy as np
import pytest

from optim import Variable


@pytest.fixture
def w():
    return Variable([1.0, 2.0, 3.0], name="w", dtype=np.float64)


@pytest.fixture
def c():
    return Variable(0.5, name="c")
