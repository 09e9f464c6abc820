"""A run's hyperparameters, from the metadata of the hparams dashboard's session start."""

import pytest
from google.protobuf.struct_pb2 import Value

from summaries import SummaryWriter, hparams, read_run
from summaries.reading.kinds import hyperparameters
from summaries.wire.pb import HParamsPluginData, SessionStartInfo, SummaryMetadata

TAG = "_hparams_/session_start_info"


def metadata(content):
    return {TAG: SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="hparams", content=content))}


def test_as_they_were_logged():
    given = {"lr": 0.5, "layers": 3, "name": "a", "nesterov": True, "none": None}
    values = {value.tag: value.metadata for value in hparams(given, {"loss": 1.0}).value}
    found = hyperparameters(values)
    assert found == {"lr": 0.5, "layers": 3.0, "name": "a", "nesterov": True}
    assert type(found["nesterov"]) is bool


@pytest.mark.parametrize("values", [{}, {"loss": SummaryMetadata()}, metadata(b""), metadata(b"\xff")], ids=str)
def test_none(values):
    assert hyperparameters(values) == {}


def test_a_value_without_a_kind_is_left_out():
    info = SessionStartInfo(hparams={"empty": Value(), "list": Value(list_value={}), "lr": Value(number_value=1.0)})
    assert hyperparameters(metadata(HParamsPluginData(session_start_info=info).SerializeToString())) == {"lr": 1.0}


def test_names_are_sorted(logdir):
    """A map of protobuf has another order in each process, which decides in which order they are compared."""
    with SummaryWriter(logdir) as writer:
        writer.add_hparams(dict.fromkeys("hbgeacdf", 1), {})
    found = hyperparameters(read_run(writer.path).metadata)
    assert list(found) == list("abcdefgh")
