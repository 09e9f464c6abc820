"""A fixture of several tests of writers."""

import math

import pytest

from summaries import EventFileWriter


@pytest.fixture
def writer(logdir):
    """A writer whose background thread leaves it alone."""
    with EventFileWriter(logdir, flush_secs=math.inf) as writer:
        yield writer
