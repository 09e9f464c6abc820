"""A fixture of several tests of optimizers."""

import pytest

from optim import Variable


@pytest.fixture
def w():
    return Variable([0.0, 0.0], name="w")
