"""What integrations log through: a disk that is full costs points, not the training."""

import numpy as np
import pytest

from optim.integrations.ranks import Logging
from summaries import SummaryWriter, read_run

GRADIENTS = {"w": np.float32([3, 4])}


class FullDisk(SummaryWriter):
    """Fails where a full disk does."""

    full = True

    def add_summary(self, *arguments, **named):
        if self.full:
            raise OSError(28, "No space left on device")
        super().add_summary(*arguments, **named)


def test_what_cannot_be_written_warns_once(logdir):
    writer = FullDisk(logdir)
    logging = Logging(writer, per_rank=False, keep_last=5)

    def log(step):
        return logging.log(logging.measure(step, GRADIENTS), 2.0)

    with pytest.warns(UserWarning, match="cannot be logged") as warned:
        assert log(1).global_norm == 5.0
    assert [str(one.message) for one in warned] == [
        "gradients cannot be logged, the training goes on: [Errno 28] No space left on device"
    ]
    log(2)
    writer.full = False
    log(3)
    logging.close()
    writer.close()
    assert read_run(logdir).scalars["gradients/global_norm"].step.tolist() == [3]


def test_other_errors_are_raised(logdir):
    logging = Logging(logdir, per_rank=False)
    with pytest.raises(TypeError, match=r"^loss must be a number, got 'much'$"):
        logging.log(logging.measure(1, GRADIENTS), "much")
    logging.close()


def test_nothing_to_measure(logdir):
    logging = Logging(logdir, per_rank=False)
    assert logging.measure(1, {}) is None
    assert logging.measure(1, GRADIENTS, scale=0) is None
    logging.close()


def test_options_that_are_refused_create_nothing(logdir):
    with pytest.raises(ValueError, match=r"^every_n_steps must be positive, got 0$"):
        Logging(logdir, per_rank=True, every_n_steps=0)
    assert not logdir.exists()


def test_variables_of_an_iterator(logdir):
    logging = Logging(logdir, per_rank=False, variables=iter(["w"]))
    logging.log(logging.measure(1, {**GRADIENTS, "b": np.ones(1)}))
    logging.close()
    assert [tag for tag in read_run(logdir).scalars if "/norm/" in tag] == ["gradients/norm/w"]
