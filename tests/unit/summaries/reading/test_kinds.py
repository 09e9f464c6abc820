"""Values that are not what their tag says are UndecodableErrors with file and offset, whatever is wrong with them."""

import pytest

from summaries import Event, Summary, read_run
from summaries.errors import UndecodableError
from summaries.wire import pb
from summaries.wire.records import frame
from summaries.wire.tensors import string_tensor


def tensor(dtype, shape=(), **values):
    dims = [pb.TensorShapeProto.Dim(size=size) for size in shape]
    return pb.TensorProto(dtype=dtype, tensor_shape=pb.TensorShapeProto(dim=dims), **values)


@pytest.fixture
def items_of(tmp_path):
    """The items that a tensor becomes under a plugin's name."""

    def read(plugin, message):
        metadata = pb.SummaryMetadata(plugin_data=pb.SummaryMetadata.PluginData(plugin_name=plugin))
        value = Summary.Value(tag="x", tensor=message, metadata=metadata)
        event = Event(wall_time=1.0, summary=Summary(value=[value]))
        (tmp_path / "a.tfevents").write_bytes(frame(event.SerializeToString()))
        run = read_run(tmp_path)
        return next(kind["x"] for kind in (run.histograms, run.images, run.audio, run.texts, run.tensors) if kind)

    return read


COMPLEX = tensor(pb.DT_COMPLEX64, scomplex_val=[1.0, 2.0])
FLOAT = tensor(pb.DT_FLOAT, float_val=[1.0])
HUGE = tensor(pb.DT_FLOAT, [2**40], float_val=[1.0])

# What is wrong: (plugin, tensor, what the error says it got).
WRONG = {
    "a complex histogram": ("histograms", COMPLEX, "a histogram must be real numbers, got an array of complex64"),
    "a histogram of strings": (
        "histograms", string_tensor([b"1"], [1]), "a histogram must be real numbers, got an array of object",
    ),
    "images of numbers": ("images", FLOAT, "images must be strings, got an array of float32"),
    "images without a size": (
        "images", string_tensor([b"3"], [1]), "images must be width, height and their bytes, got 1 strings",
    ),
    "audio of numbers": ("audio", FLOAT, "audio must be strings, got an array of float32"),
    "text of numbers": ("text", FLOAT, "text must be strings, got an array of float32"),
    "more values than memory": (
        "histograms", HUGE, "a tensor of shape (1099511627776,) must have 1099511627776 values, got 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("plugin", "message", "got"), WRONG.values(), ids=WRONG)
def test_a_wrong_value(items_of, plugin, message, got):
    items = items_of(plugin, message)
    with pytest.raises(UndecodableError) as caught:
        items[0]
    fault = caught.value.fault
    assert (fault.reason, fault.got, fault.want) == ("value is not what its tag says", got, "a value of 'x'")
    assert fault.path.endswith("a.tfevents")
    assert fault.offset == items._locations[0]["offset"]


@pytest.mark.parametrize("shape", [[0], [2, 0], [0, 2]])
def test_audio_without_clips(items_of, shape):
    assert items_of("audio", string_tensor([], shape))[0] == ((), ())


@pytest.mark.parametrize(
    ("strings", "shape", "want"),
    [
        ([b"wav"], [], ((b"wav",), ("",))),
        ([b"wav", b"more"], [2], ((b"wav", b"more"), ("", ""))),
        ([b"wav", b"label"], [1, 2], ((b"wav",), ("label",))),
        ([b"a", b"A", b"b", b"B"], [2, 2], ((b"a", b"b"), ("A", "B"))),
    ],
)
def test_audio(items_of, strings, shape, want):
    assert items_of("audio", string_tensor(strings, shape))[0] == want
