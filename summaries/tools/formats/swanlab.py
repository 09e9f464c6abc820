"""SwanLab's files, `run-<id>.swanlab`, which it writes offline and in its local mode: the records of a run.

The file is a log of LevelDB's format, of protobuf messages. It begins with ":SWL", 0xD6E1 and the version 2. Fields
that are read:

    Record        start 10 StartRecord | scalar 13 ScalarRecord | media 14 MediaRecord
    StartRecord   name 4 | description 5 | id 10
    ScalarRecord  key 1 | step 2 | timestamp 4 Timestamp | value 5 {number 1, float64}
    MediaRecord   key 1 | step 2 | timestamp 4 Timestamp | value 5 {items 1, repeated {filename 1 | caption 4}}
    Timestamp     seconds 1 | nanos 2

Beside it lie the configuration, `files/config.yaml` (name → desc, sort, value), and `media/image` and `media/text`.

References: swanlab's package, swanlab/proto
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from summaries.reading.stated import parsed
from summaries.storage.plain import files_below, text_below
from summaries.tools.formats.files import run_files
from summaries.tools.formats.gathering import Gatherer, RunNames
from summaries.tools.formats.leveldb_log import opened_log, records
from summaries.tools.formats.media import picture, words
from summaries.tools.formats.points import Facts, Media

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from summaries.tools.formats.points import Item, LeftOut

__all__ = ["PATTERN", "read_swanlab"]

PATTERN = "*.swanlab"
_MAGIC = b":SWL\xd6\xe1\x02"
_INT64, _DOUBLE, _STRING, _MESSAGE = 3, 1, 9, 11  # FieldDescriptorProto.Type
_OPTIONAL, _REPEATED = 1, 3  # FieldDescriptorProto.Label

# Message → field → (number, type, the name of a message's type); "*" before that says that there are several.
_MESSAGES: dict[str, dict[str, tuple[int, int, str]]] = {
    "Timestamp": {"seconds": (1, _INT64, ""), "nanos": (2, _INT64, "")},
    "Start": {"name": (4, _STRING, ""), "description": (5, _STRING, ""), "id": (10, _STRING, "")},
    "Number": {"number": (1, _DOUBLE, "")},
    "File": {"filename": (1, _STRING, "")},
    "Files": {"items": (1, _MESSAGE, "*File")},
    "Scalar": {
        "key": (1, _STRING, ""), "step": (2, _INT64, ""), "timestamp": (4, _MESSAGE, "Timestamp"),
        "value": (5, _MESSAGE, "Number"),
    },
    "Media": {
        "key": (1, _STRING, ""), "step": (2, _INT64, ""), "timestamp": (4, _MESSAGE, "Timestamp"),
        "value": (5, _MESSAGE, "Files"),
    },
    "Record": {"start": (10, _MESSAGE, "Start"), "scalar": (13, _MESSAGE, "Scalar"), "media": (14, _MESSAGE, "Media")},
}  # fmt: skip


def read_swanlab(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the run of a `.swanlab` file, or of all below a directory, with configuration, pictures and texts.

    A run has the name that SwanLab shows, or its id; of several with one name, the others get their ids appended.

    Args:
        path: the file or directory.
        left_out: counts what is left out.

    Raises:
        ValueError: a file is no `.swanlab` file of version 2.
        OSError: a file cannot be read.
    """
    names = RunNames(left_out)
    for _, file in run_files(path, PATTERN, left_out, _is_swanlab):
        with _opened(file) as opened:
            yield from _run(opened, file, names, left_out)


def _is_swanlab(file: str) -> bool:
    with _opened(file):
        return True


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return opened_log(file, _MAGIC, ".swanlab file of version 2")


def _run(opened: BinaryIO, file: str, names: RunNames, left_out: LeftOut) -> Iterator[Item]:
    record_type = _record_type()
    gatherer = Gatherer(left_out)
    name = run_id = os.path.basename(file).removesuffix(".swanlab").removeprefix("run-")
    texts: dict[str, str] = {}
    media = _files(os.path.join(os.path.dirname(file), "media"))
    for data in records(opened, left_out):
        try:
            record = record_type.FromString(data)
        except DecodeError:
            left_out["records that are no messages"] += 1
            continue
        if record.HasField("scalar"):
            point = record.scalar
            gatherer.add(name, point.step, _seconds(point.timestamp), {point.key: point.value.number})
            yield from gatherer.full()
        elif record.HasField("start"):
            name = names.of(record.start.name or run_id, run_id)
            if record.start.description:
                texts["description"] = record.start.description
        elif record.HasField("media"):
            yield from _media(name, record.media, media, left_out)
    yield from gatherer.rest()
    yield Facts(name, _configuration(file), texts)


def _record_type() -> Any:
    """The class of a Record; what it is made of is `_MESSAGES`."""
    file = FileDescriptorProto(name="swanlab.proto", package="swanlab", syntax="proto3")
    for name, members in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, of) in members.items():
            label = _REPEATED if of.startswith("*") else _OPTIONAL
            of_type = f".swanlab.{of.removeprefix('*')}" if of else None
            message.field.add(name=field, number=number, type=kind, label=label, type_name=of_type)
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("swanlab.Record"))


def _seconds(timestamp: Any) -> float:
    return float(timestamp.seconds + timestamp.nanos / 1e9)


def _files(directory: str) -> dict[str, str]:
    """Name → path of the files of media: a record names one of these."""
    return {name: os.path.join(folder, name) for folder, _, names in files_below(directory) for name in names}


def _media(run: str, record: Any, files: dict[str, str], left_out: LeftOut) -> Iterator[Media]:
    for number, item in enumerate(record.value.items):
        path = files.get(item.filename, "")
        tag = record.key if number == 0 else f"{record.key}/{number}"
        summary = words(tag, text_below(path)) if path.endswith(".txt") else picture(tag, path) if path else None
        if summary is None:
            left_out[f"media of {record.key!r} that are no pictures or texts"] += 1
        else:
            yield Media(run, record.step, _seconds(record.timestamp), summary)


def _configuration(file: str) -> dict[str, bool | float | str]:
    """The settings, without what SwanLab says of each: how it is described, and where it stands."""
    try:
        settings = parsed(text_below(os.path.join(os.path.dirname(file), "files", "config.yaml")))
    except OSError:
        return {}
    pairs = ((name.split(".", 2), value) for name, value in settings.items())
    return {".".join([parts[0], *parts[2:]]): value for parts, value in pairs if parts[1:2] == ["value"]}
