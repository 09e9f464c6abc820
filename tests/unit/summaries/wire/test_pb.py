"""The generated messages are up to date, and put on the wire the bytes that they should."""

import hashlib
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool
from google.protobuf.struct_pb2 import Value
from helpers import ROOT

from summaries.wire import pb
from summaries.wire.pb import hparams_pb2

COMPILERS = list(ROOT.glob(f".protoc/*-{sys.implementation.cache_tag}"))
needs_compiler = pytest.mark.skipif(
    not COMPILERS, reason="`proto/generate.py --check` has not unpacked protoc here yet"
)


def generate(root, mode):
    done = subprocess.run(
        [sys.executable, root / "proto/generate.py", mode], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.fixture
def copy(tmp_path):
    """A second checkout, to be spoilt."""
    for part in ("proto", "summaries/wire/pb"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
        for path in (tmp_path / part, *(tmp_path / part).rglob("*")):
            path.chmod(path.stat().st_mode | stat.S_IWUSR)  # this checkout may be one that cannot be written
    return tmp_path


def append(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8", newline="\n")


def test_is_up_to_date_by_digest():
    assert generate(ROOT, "--digest") == (0, "")


@needs_compiler
def test_is_what_the_compiler_makes():
    assert generate(ROOT, "--check") == (0, "")


@pytest.mark.parametrize(
    ("spoil", "stale"),
    [
        (lambda path: append(path, "message New {}\n"), "proto/event.proto"),
        (lambda path: append(path, "\n"), "summaries/wire/pb/event_pb2.py"),
        (Path.unlink, "summaries/wire/pb/event_pb2.pyi"),
        (Path.touch, "summaries/wire/pb/of_a_source_that_is_gone_pb2.py"),
        (Path.touch, "proto/new.proto"),
    ],
    ids=["source edited", "code edited", "code missing", "code left over", "source added"],
)
def test_digest_names_what_is_stale(copy, spoil, stale):
    spoil(copy / stale)
    advice = "to update them: python proto/generate.py"
    assert generate(copy, "--digest") == (1, f"stale: {stale}\n{advice}\n")


@needs_compiler
def test_compiler_sees_through_a_forged_digest(copy):
    """Code and digest changed together get past `--digest`; not past `--check`."""
    shutil.copytree(COMPILERS[0].parent, copy / ".protoc")
    code, record = copy / "summaries/wire/pb/event_pb2.py", copy / "proto/digests.txt"
    before = hashlib.sha256(code.read_bytes()).hexdigest()
    append(code, "Event = None\n")
    forged = hashlib.sha256(code.read_bytes()).hexdigest()
    record.write_text(record.read_text().replace(before, forged), newline="\n")

    assert generate(copy, "--digest") == (0, "")
    status, out = generate(copy, "--check")
    stale = out.splitlines()[:-1]
    assert (status, stale) == (1, ["stale: proto/digests.txt", "stale: summaries/wire/pb/event_pb2.py"])


# Both ways: the message makes these bytes, and these bytes make the message.
WIRE = {
    "the first event of a file": (
        pb.Event(wall_time=1599759586.0, file_version="brain.Event:2"),
        bytes.fromhex("09 0000803899d6d741 1a 0d") + b"brain.Event:2",
    ),
    "a scalar": (
        pb.Event(step=5, summary=pb.Summary(value=[pb.Summary.Value(tag="loss", simple_value=0.5)])),
        b"\x10\x05\x2a\x0d\x0a\x0b\x0a\x04loss\x15\x00\x00\x00\x3f",
    ),
    "a restart": (
        pb.Event(step=-1, session_log=pb.SessionLog(status=pb.SessionLog.START)),
        b"\x10" + 9 * b"\xff" + b"\x01\x3a\x02\x08\x01",
    ),
    "a tensor, packed": (
        pb.TensorProto(dtype=pb.DT_FLOAT, float_val=[1.0], tensor_shape=pb.TensorShapeProto(dim=[{"size": 1}])),
        b"\x08\x01\x12\x04\x12\x02\x08\x01\x2a\x04\x00\x00\x80\x3f",
    ),
    "a node and its attribute": (
        pb.NodeDef(name="a", op="Add", input=["b"], attr={"T": pb.AttrValue(type=pb.DT_HALF)}),
        b"\x0a\x01a\x12\x03Add\x1a\x01b\x2a\x07\x0a\x01T\x12\x02\x30\x13",
    ),
    "a session of the hparams dashboard": (
        pb.SessionStartInfo(hparams={"lr": Value(number_value=0.5)}, group_name="g"),
        b"\x0a\x0f\x0a\x02lr\x12\x09\x11\x00\x00\x00\x00\x00\x00\xe0\x3f\x22\x01g",
    ),
}


@pytest.mark.parametrize(("message", "data"), WIRE.values(), ids=WIRE)
def test_bytes_of_a_message(message, data):
    assert message.SerializeToString(deterministic=True) == data
    assert type(message).FromString(data) == message


def test_unknown_fields_survive():
    """A newer writer's field goes through us unharmed."""
    data = b"\x10\x05\xa2\x06\x03new"
    assert pb.Event.FromString(data).SerializeToString() == data


def test_the_last_of_a_oneof_stands():
    event = pb.Event(file_version="brain.Event:2")
    event.summary.SetInParent()
    assert event.WhichOneof("what") == "summary"


def test_two_data_types():
    """The hparams dashboard's enum of the same name does not hide the tensors'."""
    assert pb.DataType.Name(pb.DT_FLOAT) == "DT_FLOAT"
    assert hparams_pb2.DataType.Name(1) == "DATA_TYPE_STRING"


@pytest.mark.parametrize("source", sorted(path.name for path in ROOT.glob("proto/*.proto")))
def test_names_in_the_descriptor_pool_are_ours(source):
    """Neither file nor package may be TensorFlow's: the pool is one for the whole process."""
    file = descriptor_pool.Default().FindFileByName(f"summaries/wire/pb/{source}")
    assert file.package.split(".")[0] == "gradledger"


def test_all_names_are_there():
    assert [name for name in pb.__all__ if not hasattr(pb, name)] == []
