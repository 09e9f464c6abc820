import pytest

from summaries import SummaryWriter


@pytest.fixture
def writer(logdir):
    with SummaryWriter(logdir) as writer:
        yield writer
