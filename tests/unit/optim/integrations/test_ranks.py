"""What integrations log through: a disk that is full costs points, not the training."""

import numpy as np
import pytest

from optim.integrations.ranks import Logging
from optim.telemetry.arriving import Arriving
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
        logging.log(logging.measure(step, GRADIENTS), 2.0)
        return logging.report

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


def test_what_cannot_be_measured_warns_once(logdir):
    logging = Logging(logdir, per_rank=False)
    with pytest.warns(UserWarning, match="cannot be measured") as warned:
        measured = [logging.measure(1, {"w": array}) for array in (np.zeros(2, np.int64), "text")]
    assert measured == [None, None]
    assert [str(one.message) for one in warned] == [
        "gradients cannot be measured, the training goes on: gradients of 'w' must be of floating dtype, got int64"
    ]
    logging.close()


def test_what_a_trainer_reports(logdir):
    logging = Logging(logdir, per_rank=False)
    logging.describe({"lr": 0.1, "layers": [1, 2], "none": None}, note="half")
    logging.scalars({"eval/loss": np.float32(0.5)}, 3)
    logging.scalars({}, 4)
    logging.describe({})
    with pytest.raises(TypeError):
        logging.scalars({"eval/loss": "much"}, 3)
    logging.close()
    run = read_run(logdir)
    assert run.hparams == {"lr": 0.1, "layers": "[1, 2]"}
    assert run.texts["note/text_summary"][0] == "half"
    assert (run.scalars["eval/loss"].step.tolist(), run.scalars["eval/loss"].value.tolist()) == ([3], [0.5])


def test_updates_that_are_known_after_the_step(logdir):
    logging = Logging(logdir, per_rank=False)
    observed = logging.measure(1, GRADIENTS, {"w": np.float32([6, 8])})
    logging.log(observed.with_updates(Arriving.of(({"w": 4.0}, {}))))
    logging.close()
    scalars = read_run(logdir).scalars
    assert scalars["updates/norm/w"].value.tolist() == [2.0]
    assert scalars["updates/ratio/w"].value.tolist() == pytest.approx([0.2])
