"""Runs below a run: rows of hyperparameters, curves of add_scalars as JSON, and all of the files together."""

import json

import numpy as np
import pytest
from helpers import event_files, scalars
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.plugins import base_plugin
from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

from summaries import SummaryWriter, kinds, read_run


def rows(logdir):
    """The rows of TensorBoard's table of hyperparameters, as its own backend makes them."""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(logdir))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(logdir))
    context = backend_context.Context(base_plugin.TBContext(data_provider=provider))
    request = api_pb2.ListSessionGroupsRequest(allowed_statuses=[api_pb2.STATUS_SUCCESS], slice_size=100)
    return list_session_groups.Handler(RequestContext(), context, "", request).run().session_groups


def test_torchs_example_of_hyperparameters_makes_five_rows(logdir):
    with SummaryWriter(logdir) as writer:
        for i in range(5):
            writer.add_hparams({"lr": 0.1 * i, "bsize": i}, {"hparam/accuracy": 10 * i, "hparam/loss": 10 * i})
    found = sorted(
        (group.hparams["lr"].number_value, group.hparams["bsize"].number_value, *(m.value for m in group.metric_values))
        for group in rows(logdir)
    )
    np.testing.assert_allclose(found, [(0.1 * i, i, 10 * i, 10 * i) for i in range(5)])


def test_the_first_row_is_the_run_itself(logdir):
    """So its curves belong to the row, and programs with one set of hyperparameters get no second run."""
    with SummaryWriter(logdir) as writer:
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.9}, global_step=3)
        assert [path.name for path in logdir.iterdir()] == [event_files(logdir)[0].name]
        writer.add_hparams({"lr": 0.2}, {"accuracy": 0.8}, global_step=4)
    (below,) = (path for path in logdir.iterdir() if path.is_dir())
    assert float(below.name) > 1.7e9
    assert scalars(*event_files(logdir))[-1] == (3, "accuracy", pytest.approx(0.9))
    assert scalars(*event_files(below))[-1] == (4, "accuracy", pytest.approx(0.8))


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((None, "trial"), {}), ((), {"run_name": "trial"}), (("trial",), {}), ((), {"name": "trial"})],
    ids=["torch, by position", "torch", "tensorboardX, by position", "tensorboardX"],
)
def test_a_row_with_a_name(logdir, arguments, options):
    with SummaryWriter(logdir) as writer:
        for accuracy in (0.5, 0.75):
            writer.add_hparams({"lr": 0.1}, {"accuracy": accuracy}, *arguments, **options)
        writer.add_hparams({"lr": 0.1}, {"accuracy": 0.25})
    assert [path.name for path in logdir.iterdir() if path.is_dir()] == ["trial"]
    assert read_run(logdir / "trial").scalars["accuracy"].value.tolist() == [0.5, 0.75]
    assert read_run(logdir).scalars["accuracy"].value.tolist() == [0.25]


def test_the_fourth_argument_after_a_name_is_tensorboardxs_step(logdir):
    with SummaryWriter(logdir) as writer:
        writer.add_hparams({"lr": 1}, {"accuracy": 0.5}, "trial", 3)
    assert read_run(logdir / "trial").scalars["accuracy"].step.tolist() == [3]


def test_rows_of_the_same_moment(logdir):
    writer = SummaryWriter(logdir)
    writer._wall_clock = lambda: 1795202364.5
    for i in range(4):
        writer.add_hparams({"lr": i}, {"accuracy": i})
    writer.close()
    assert len([path for path in logdir.iterdir() if path.is_dir()]) == 3


def test_a_run_name_that_is_none(logdir):
    with SummaryWriter(logdir) as writer, pytest.raises(TypeError, match=r"^run_name must be a string, got int: 5$"):
        writer.add_hparams({"lr": 1}, {}, run_name=5)


class Metric:
    """A tensor on another device: each conversion waits for the device."""

    conversions = 0
    shape = ()

    def item(self):
        self.conversions += 1
        return 0.5


def test_a_value_is_converted_once(logdir):
    metrics = [Metric() for _ in range(4)]
    with SummaryWriter(logdir) as writer:
        writer.add_hparams({"lr": 1}, {"metric": metrics[0]})
        writer.add_scalars("curves", {"a": metrics[1]})
        writer.add_scalar("loss", metrics[2])
        writer.add_scalar("new style", metrics[3], new_style=True)
    assert [metric.conversions for metric in metrics] == [1, 1, 1, 1]


def test_curves_as_json(logdir, tmp_path):
    with SummaryWriter(logdir) as writer:
        for step in range(2):
            writer.add_scalars("loss", {"train": step + 0.5, "test": step + 0.25}, step, walltime=100.0 + step)
            writer.close()  # each file counts
        writer.add_scalar("other", 1.0)
        writer.add_hparams({"lr": 1}, {"metric": 1.0}, run_name="trial")
        writer.export_scalars_to_json(tmp_path / "curves.json")
    assert json.loads((tmp_path / "curves.json").read_text(encoding="utf-8")) == {
        str(logdir / "loss_train"): [[100.0, 0, 0.5], [101.0, 1, 1.5]],
        str(logdir / "loss_test"): [[100.0, 0, 0.25], [101.0, 1, 1.25]],
    }


def test_all_writers(logdir):
    """Programs flush each of them, or take the first directory."""
    writer = SummaryWriter(logdir, flush_secs=float("inf"))
    writer.add_scalars("loss", {"train": 0.5}, 1)
    assert list(writer.all_writers) == [str(logdir), str(logdir / "loss_train")]
    for each in writer.all_writers.values():
        each.flush()
    assert scalars(*event_files(logdir / "loss_train")) == [(1, "loss", 0.5)]
    writer.close()
    assert writer.all_writers is None
    writer.add_summary(kinds.scalar.scalar("loss", 1.0))
    assert next(iter(writer.all_writers)) == str(logdir)
    writer.close()
