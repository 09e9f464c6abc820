"""Attributes of the writer that users replace, as torch's and tensorboardX's allow."""

from unittest import mock

import pytest

from summaries import SummaryWriter, read_run
from summaries.writing.shadowed import computed

NAMES = [
    "all_writers",
    "closed",
    "event_writer",
    "file_writer",
    "filename_suffix",
    "flush_secs",
    "log_dir",
    "logdir",
    "max_queue",
    "path",
    "paths",
    "purge_step",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("before", [True, False])
def test_a_subclass_may_have_an_attribute_of_its_own(logdir, name, before):
    class Mine(SummaryWriter):
        def __init__(self):
            if before:
                setattr(self, name, "mine")
            super().__init__(logdir)
            if not before:
                setattr(self, name, "mine")

    writer = Mine()
    for _ in range(2):
        writer.add_scalar("loss", 0.5, 1)
        writer.add_scalars("losses", {"train": 0.5}, 1)
        writer.add_hparams({"lr": 0.1}, {"best": 0.5}, run_name="trial")
        writer.add_text("note", "hello", 1)
        writer._get_file_writer().flush()
        writer.export_scalars_to_json(f"{logdir}/all.json")
        writer.close()
    assert getattr(writer, name) == ("mine" if (name, before) != ("purge_step", True) else None)
    assert len(read_run(logdir).scalars["loss"]) == 2


def test_a_subclass_may_have_a_property_of_its_own(logdir):
    class Mine(SummaryWriter):
        @property
        def log_dir(self):
            raise AssertionError

    with Mine(logdir) as writer:
        writer.add_scalar("loss", 0.5, 1)
    assert len(read_run(logdir).scalars["loss"]) == 1


def test_a_mock_takes_the_place_for_a_while(logdir):
    with SummaryWriter(logdir) as writer:
        with mock.patch.object(writer, "file_writer") as patched:
            assert writer.file_writer is patched
        assert writer.file_writer is writer


def test_the_class_shows_the_documentation():
    assert isinstance(SummaryWriter.log_dir, computed)
    assert SummaryWriter.log_dir.__doc__ == "The run's directory, under torch's name."
