"""The manifest of a dataset: which run is in which of its files, and what the run was when it was written.

It is the file `_manifest.json` in the dataset, UTF-8 encoded JSON:

    {"gradledger_dataset": 2, "tags": ["loss*"], "latest": false,
     "files": {"part-00000.parquet": {"a": {"bytes": 5840, "fingerprint": "8c1f…", "points": 200}}}}

`tags` (null: all) and `latest` are what was asked for. `files` has the Parquet files, and in each its runs by name: the
size of the run's event files in bytes, the fingerprint of these files, and the number of rows. The latter are null as
long as the run has its place but is not written; the fingerprint alone, if it has to be written again. So has every run
of version 1, whose files were not in the order of tags.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from summaries.patterns import several
from summaries.storage.credentials import without_credentials
from summaries.storage.files import is_vacant, read_file, write_file
from summaries.storage.local import LocalStorage
from summaries.storage.names import join

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from summaries.storage.protocols import StoredFile

__all__ = ["Entry", "Manifest", "fingerprint", "part_name"]

_MANIFEST = "_manifest.json"
_VERSION = 2
_UNSORTED = 1
_PART = re.compile(r"part-\d{5,9}\.parquet", re.ASCII)


class Entry(NamedTuple):
    """A run in a file.

    Attributes:
        bytes: the size of its event files, in bytes.
        fingerprint: that of its event files when it was written; None if it has to be written.
        points: how many rows it has; None if it was never written.
    """

    bytes: int
    fingerprint: str | None = None
    points: int | None = None


@dataclass
class Manifest:
    """What is in a dataset; see this module's documentation.

    Attributes:
        target: the dataset's directory or address.
        storage_options: for an address, the options of its file system.
        tags: patterns of the tags that are in it; None for all.
        latest: whether what a restart superseded is left out.
        files: the files by name, and the runs in them.
    """

    target: str
    storage_options: Mapping[str, object] | None = None
    tags: tuple[str, ...] | None = None
    latest: bool = False
    files: dict[str, dict[str, Entry]] = field(default_factory=dict)

    @classmethod
    def of(cls, target: str, storage_options: Mapping[str, object] | None) -> Manifest:
        """Read the manifest of a dataset; of a new one, if there is nothing yet.

        Raises:
            ValueError: what is there is not a dataset of this version.
            OSError: it cannot be read.
        """
        try:
            data = read_file(join(target, _MANIFEST), storage_options)
        except NotADirectoryError:  # the target is a file
            data = None
        if data is None:
            if not is_vacant(target, storage_options):
                shown = without_credentials(target)
                raise ValueError(
                    f"the target must be new, empty, or a dataset of gradledger with its {_MANIFEST}: {shown}"
                )
            return cls(target, storage_options)
        try:
            return cls._parsed(target, storage_options, json.loads(data))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            path = without_credentials(join(target, _MANIFEST))
            raise ValueError(f"not the manifest of a dataset of version {_VERSION}: {path}") from None

    @classmethod
    def _parsed(cls, target: str, storage_options: Mapping[str, object] | None, tree: Any) -> Manifest:
        version = tree["gradledger_dataset"]
        if version not in (_UNSORTED, _VERSION):
            raise ValueError
        if not all(map(_PART.fullmatch, tree["files"])):
            raise ValueError  # a path elsewhere, which would be overwritten
        files = {file: {name: Entry(**entry) for name, entry in runs.items()} for file, runs in tree["files"].items()}
        for runs in files.values() if version == _UNSORTED else ():
            runs |= {name: entry._replace(fingerprint=None) for name, entry in runs.items()}
        return cls(target, storage_options, several(tree["tags"]), tree["latest"], files)

    def save(self) -> None:
        """Write it in place of the one that is there, at once.

        Raises:
            OSError: it cannot be written.
        """
        files = {file: {name: entry._asdict() for name, entry in runs.items()} for file, runs in self.files.items()}
        tree = {"gradledger_dataset": _VERSION, "tags": self.tags, "latest": self.latest, "files": files}
        write_file(join(self.target, _MANIFEST), (json.dumps(tree) + "\n").encode(), self.storage_options)


def part_name(number: int) -> str:
    """The name of a file of a dataset; the manifest names no others."""
    return f"part-{number:05d}.parquet"


def fingerprint(files: Sequence[StoredFile]) -> str | None:
    """What changes when a file of a run is written, replaced, added or removed; None if that is unknown.

    On a disk it is made of each file's name, size and modification time, so that it stays the same where the disk is
    mounted elsewhere; in a store, of what the store identifies a file's version by.
    """
    versions = []
    for file in files:
        version: Any = file.identity
        if version is None:
            return None
        if isinstance(file.storage, LocalStorage):
            _, _, _, version = version
        versions.append((os.path.basename(file.path), file.size, version))
    return blake2b(repr(versions).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
