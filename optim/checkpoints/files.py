"""Checkpoint files, written whole or not at all, and the list of a directory's checkpoints.

    <directory>/
        checkpoint               JSON: {"checkpoints": {name: secs, …}, "kept": {name: secs, …}}, the latest one last
        model-100.safetensors    one file per checkpoint
        .gradledger.k3x9.tmp/    work in progress; if the process is killed, it stays for at least an hour

A checkpoint is written elsewhere, synced to the disk, and only then moved to its name; the same goes for the list, as
`summaries.storage.durable` says. So if the process is killed or the machine loses power at any moment, the previous
checkpoint stays whole; and when save() returns, the new one is on the disk, with the names of all directories above it.

The list names a checkpoint from just before it appears until after it is removed; only files that exist count. So every
checkpoint that a killed process leaves is listed, and the next save removes those that are due. The list only names
files of its own directory; if it is missing or damaged, the newest file whose name ends in a step is the latest.

The metadata of a file have the CRC-32C of each array's bytes, as TensorFlow's checkpoints do; safetensors has none:

    crc32c       JSON: {name: checksum, …}
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

try:
    import fcntl
except ImportError:  # Windows: savers in one directory must take turns themselves
    fcntl = None  # type: ignore[assignment]

import numpy as np

from summaries.storage.durable import make_directories, remove_leftovers, scratch_beside, sync
from summaries.wire.crc32c import extend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from numpy.typing import NDArray

__all__ = ["SUFFIX", "CheckpointList", "Keeping", "latest_checkpoint", "read_arrays", "write_checkpoint"]

SUFFIX = ".safetensors"
_LIST = "checkpoint"
_STEPPED = re.compile(r"-\d+" + re.escape(SUFFIX) + "$")
_CHECKSUMS = "crc32c"  # in the metadata
_CHUNK_BYTES = 1 << 20
_LOCK_TRIES, _LOCK_PAUSE_SECS = 1000, 0.01
_changing: set[int] = set()  # the threads that are changing a list


class Keeping(NamedTuple):
    """The policy for which of a model's checkpoints to keep.

    Attributes:
        stem: the model's name, with which the files' names begin.
        max_to_keep: the number of latest checkpoints to keep; None keeps all.
        every_secs: of the older ones, one per this many seconds is kept for good,
        start: counted from here, in seconds since the epoch.
    """

    stem: str
    max_to_keep: int | None
    every_secs: float
    start: float

    def owns(self, name: str) -> bool:
        """Whether this file is a checkpoint of the model."""
        return re.fullmatch(re.escape(self.stem) + r"(-\d+)?" + re.escape(SUFFIX), name) is not None


class CheckpointList(NamedTuple):
    """The contents of a directory's list.

    Attributes:
        checkpoints: name → when it was written, in seconds since the epoch, oldest first.
        kept: likewise, the checkpoints that are kept for good.
    """

    checkpoints: dict[str, float]
    kept: dict[str, float]

    @classmethod
    def of(cls, directory: str) -> CheckpointList:
        """The list of a directory; built from its files if it is missing or damaged."""
        try:
            with open(os.path.join(directory, _LIST), encoding="utf-8") as file:
                listed = json.load(file)
            return cls(*(_present(directory, listed[key]) for key in cls._fields))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls(_by_age(directory), {})

    def with_new(self, name: str, secs: float, keeping: Keeping) -> tuple[CheckpointList, list[str]]:
        """The list with a new checkpoint, written at `secs`, and the names of those to remove, which it still holds."""
        checkpoints = {**{old: when for old, when in self.checkpoints.items() if old != name}, name: secs}
        kept = {old: when for old, when in self.kept.items() if old != name}
        own = [old for old in checkpoints if keeping.owns(old)]
        last = max((when for old, when in kept.items() if keeping.owns(old)), default=keeping.start)
        going = []
        for old in own[: -keeping.max_to_keep] if keeping.max_to_keep else []:
            if checkpoints[old] - last >= keeping.every_secs:
                kept[old] = last = checkpoints.pop(old)
            else:
                going.append(old)
        return CheckpointList(checkpoints, kept), going


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str]) -> str | None:
    """The path of the directory's latest checkpoint, for a Saver to restore; None if there is none.

    Args:
        checkpoint_dir: a directory in which a Saver saved. Removed checkpoints do not count.

    >>> import tempfile
    >>> from optim import Saver, Variable
    >>> directory = tempfile.mkdtemp()
    >>> latest_checkpoint(directory) is None
    True
    >>> path = Saver([Variable(1.0, name="w")]).save(directory + "/model", global_step=5)
    >>> latest_checkpoint(directory) == path
    True
    """
    directory = os.fsdecode(checkpoint_dir)
    names = list(CheckpointList.of(directory).checkpoints)
    return os.path.join(directory, names[-1]) if names else None


def write_checkpoint(path: str, arrays: Mapping[str, NDArray[Any]], keeping: Keeping) -> list[str]:
    """Write a checkpoint, list it, and remove those that are due.

    Args:
        path: the file's path.
        arrays: name → array, C-contiguous.
        keeping: the policy for which of the model's checkpoints to keep.

    Returns:
        The names of the model's checkpoints that are now listed, oldest first.

    Raises:
        OSError: the file cannot be written. Existing files are unchanged.
        ImportError: safetensors is not installed.
    """
    directory, name = os.path.split(path)
    directory = directory or os.curdir
    grown = make_directories(directory)
    remove_leftovers(directory)
    with scratch_beside(path) as scratch:
        new, new_list = os.path.join(scratch, name), os.path.join(scratch, _LIST)
        _write_arrays(new, arrays, path)
        with _alone_in(directory):
            listing, going = CheckpointList.of(directory).with_new(name, time.time(), keeping)
            with open(new_list, "w", encoding="utf-8") as file:
                json.dump(listing._asdict(), file, indent=1)
            os.chmod(new, os.stat(new_list).st_mode)  # as the umask says: safetensors' own files are private
            sync(new)
            sync(new_list)
            os.replace(new_list, os.path.join(directory, _LIST))
            sync(directory)
            os.replace(new, path)
            for changed in (directory, *grown):
                sync(changed)  # it exists before an older one is removed
            for old in going:
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(directory, old))
    return [old for old in listing.checkpoints if keeping.owns(old) and old not in going]


def read_arrays(path: str, check: Callable[[Mapping[str, tuple[tuple[int, ...], str]]], None]) -> dict[str, Any]:
    """The arrays of a checkpoint, by name.

    Args:
        path: the file's path.
        check: called with name → (shape, safetensors' name of the dtype) before any array is read; may raise.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not a safetensors file, or is damaged.
        ImportError: safetensors is not installed.
    """
    safetensors = _safetensors()
    with open(path, "rb"):  # its error names the file
        pass
    try:
        with safetensors.safe_open(path, framework="np") as file:
            parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
            check({name: (tuple(part.get_shape()), part.get_dtype()) for name, part in parts.items()})
            arrays = {name: file.get_tensor(name) for name in parts}
            told = (file.metadata() or {}).get(_CHECKSUMS, "{}")  # another program's file has none
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path!r} is not a checkpoint, or is damaged: {error}") from error
    try:
        sums = dict(json.loads(told))
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{path!r} is not a checkpoint, or is damaged: its checksums: {error}") from error
    for name, array in arrays.items():
        if name in sums and sums[name] != _checksum(array):
            raise ValueError(f"{path!r} is damaged: the values of {name!r} are not those that were saved")
    return arrays


def _checksum(array: NDArray[Any]) -> int:
    data, crc = array.reshape(-1).view(np.uint8), 0
    for start in range(0, len(data), _CHUNK_BYTES):
        crc = extend(crc, data[start : start + _CHUNK_BYTES].tobytes())
    return crc


def _safetensors() -> ModuleType:
    try:
        import safetensors.numpy  # noqa: PLC0415 - an extra
    except ImportError:
        raise ImportError("checkpoints need safetensors: pip install 'gradledger[checkpoint]'") from None
    module: ModuleType = safetensors
    return module


def _write_arrays(path: str, arrays: Mapping[str, NDArray[Any]], final_path: str) -> None:
    safetensors = _safetensors()
    try:
        sums = {name: _checksum(array) for name, array in arrays.items()}
        safetensors.numpy.save_file(dict(arrays), path, metadata={_CHECKSUMS: json.dumps(sums)})
    except safetensors.SafetensorError as error:  # it holds system errors as text only
        number = re.search(r"(?:os error|code:) (\d+)", str(error))
        code, text = (int(number[1]), os.strerror(int(number[1]))) if number else (errno.EIO, str(error))
        raise OSError(code, text, final_path) from error


def _present(directory: str, listed: Mapping[str, float]) -> dict[str, float]:
    """The listed files that exist. Entries that are not plain file names are ignored: the list is not trusted."""
    plain = {name: float(secs) for name, secs in listed.items() if os.path.basename(name) == name}
    return {name: secs for name, secs in plain.items() if os.path.isfile(os.path.join(directory, name))}


def _by_age(directory: str) -> dict[str, float]:
    """The files whose names end in a step, oldest first. Others may be unrelated, such as initial weights."""
    try:
        with os.scandir(directory) as found:
            files = [(entry.stat().st_mtime, entry.name) for entry in found if _STEPPED.search(entry.name)]
        return {name: secs for secs, name in sorted(files)}
    except OSError:
        return {}


@contextlib.contextmanager
def _alone_in(directory: str) -> Iterator[None]:
    """Let one saver at a time, among threads and processes, change the list of a directory.

    The wait is limited: a child forked at a bad moment may hold the lock of a process that has ended.
    """
    me = threading.get_ident()
    if fcntl is None or me in _changing:  # a signal handler that saves while its thread is saving
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    _changing.add(me)
    try:
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_LOCK_PAUSE_SECS)
            except OSError:
                break  # a file system without locks
        yield
    finally:
        _changing.discard(me)
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # after a mere close, a forked child would still hold it
        os.close(handle)
