"""W&B's offline files, `run-<id>.wandb`: the history, the configuration and the notes of a run.

The file is a log of LevelDB's format, of protobuf messages. It begins with ":W&B", 0xBEE1 and the version 0.
Fields that are read, as in wandb_internal.proto:

    Record          history 2 HistoryRecord | config 5 ConfigRecord | run 17 RunRecord
    HistoryRecord   item 1 HistoryItem
    ConfigRecord    update 1 ConfigItem
    RunRecord       config 4 ConfigRecord | display_name 8 | notes 9
    …Item           key 1 | nested_key 2, repeated | value_json 16

References: https://github.com/wandb/wandb/blob/main/wandb/proto/wandb_internal.proto
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np
from google.protobuf.message import DecodeError

from summaries.reading.stated import flat
from summaries.storage.plain import files_below, is_directory
from summaries.tools.formats.files import whole
from summaries.tools.formats.gathering import Gatherer, RunNames
from summaries.tools.formats.leveldb_log import opened_log, records
from summaries.tools.formats.points import Facts
from summaries.wire.protobuf import fields

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from summaries.tools.formats.points import Item, LeftOut, PointBatch

__all__ = ["read_wandb", "wandb_files"]

_MAGIC = b":W&B\xe1\xbe\x00"
_HISTORY, _CONFIG, _RUN = 2, 5, 17  # fields of Record
_ITEM = 1  # field of HistoryRecord and ConfigRecord
_RUN_CONFIG, _DISPLAY_NAME, _NOTES = 4, 8, 9  # fields of RunRecord
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16  # fields of an item


def wandb_files(path: str) -> list[str]:
    """The `.wandb` files of a path: a file itself, and all below a directory, sorted."""
    if not is_directory(path):
        return [path]
    paths = (os.path.join(folder, name) for folder, _, names in files_below(path) for name in names)
    return sorted(file for file in paths if file.endswith(".wandb"))


def read_wandb(path: str, left_out: LeftOut) -> Iterator[Item]:
    """Read the runs of a `.wandb` file, or of all below a directory.

    A run has the name that W&B shows, or its id; of several with one name, the others get their ids appended. Only
    numbers and truth values become points; keys within keys are joined by dots.

    Args:
        path: the file or directory.
        left_out: counts what is left out.

    Raises:
        ValueError: a file is no `.wandb` file of version 0.
        OSError: a file cannot be read.
    """
    names = RunNames(left_out)
    files = whole(wandb_files(path), left_out, _is_wandb) if is_directory(path) else [path]
    for file in files:
        run = _RunReader(os.path.basename(file).removesuffix(".wandb").removeprefix("run-"), names, left_out)
        with _opened(file) as opened:
            for record in records(opened, left_out):
                try:
                    yield from run.points(record)
                except (DecodeError, UnicodeDecodeError, RecursionError, OverflowError):
                    left_out["records that are no messages"] += 1
        yield from run.rest()


def _is_wandb(file: str) -> bool:
    with _opened(file):
        return True


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    return opened_log(file, _MAGIC, ".wandb file of version 0")


class _RunReader:
    """Collects the points of one run, and what is said of it."""

    def __init__(self, run_id: str, names: RunNames, left_out: LeftOut) -> None:
        self._id, self._names, self._left_out = run_id, names, left_out
        self._name = ""
        self._config: dict[str, bool | float | str] = {}
        self._texts: dict[str, str] = {}
        self._gatherer = Gatherer(left_out)

    def points(self, record: bytes) -> Iterator[PointBatch]:
        """Take a record; yield points when there are enough of them."""
        for field, start, stop in fields(record, 0, len(record)):
            if field == _HISTORY:
                self._add_row(dict(_items(record, start, stop)))
            elif field == _CONFIG:
                self._add_config(record, start, stop)
            elif field == _RUN:
                self._add_run(record, start, stop)
        yield from self._named(self._gatherer.full())

    def rest(self) -> Iterator[Item]:
        """What is left at the end of the file; at least the facts."""
        yield from self._named(self._gatherer.rest())
        yield Facts(self._run(), self._config, self._texts)

    def _named(self, batches: Iterator[PointBatch]) -> Iterator[PointBatch]:
        return (batch._replace(run=self._run()) for batch in batches)

    def _run(self) -> str:
        return self._names.of(self._name or self._id, self._id)

    def _add_run(self, record: bytes, start: int, stop: int) -> None:
        for field, first, last in fields(record, start, stop):
            if field == _RUN_CONFIG:
                self._add_config(record, first, last)
            elif field == _DISPLAY_NAME and not self._name:
                self._name = record[first:last].decode()
            elif field == _NOTES and last > first:
                self._texts["notes"] = record[first:last].decode()

    def _add_config(self, record: bytes, start: int, stop: int) -> None:
        for key, value in _items(record, start, stop):
            if key != "_wandb":
                self._config.update(flat(value, key))

    def _add_row(self, row: dict[str, object]) -> None:
        time = row.get("_timestamp")
        own = {key: value for key, value in row.items() if not key.startswith("_")}
        self._gatherer.add(".", row.get("_step"), time if isinstance(time, (int, float)) else np.nan, own)


def _items(record: bytes, start: int, stop: int) -> Iterator[tuple[str, object]]:
    """(key, value) of each item of a history or configuration; keys within keys are joined by dots."""
    for field, first, last in fields(record, start, stop):
        if field != _ITEM:
            continue
        keys, value = [], "null"
        for part, begin, end in fields(record, first, last):
            if part in {_KEY, _NESTED_KEY}:
                keys.append(record[begin:end].decode())
            elif part == _VALUE_JSON:
                value = record[begin:end].decode()
        yield ".".join(filter(None, keys)), _parsed(value)


def _parsed(value: str) -> object:
    try:
        parsed: object = json.loads(value)
    except ValueError:
        return value
    return parsed
