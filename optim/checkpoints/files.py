"""Checkpoint files: written whole or not at all, and a list of those that there are.

    <directory>/
        checkpoint               JSON: {"checkpoints": {name: secs, …}, "kept": {name: secs, …}}, the latest one last
        model-100.safetensors    one file a checkpoint
        .model.k3x9.saving/      what is being written; where a process was killed it stays, an hour at least

A checkpoint is written below `.saving`, brought to the disk, and only then moved to its name; so is the list. So a
process that is killed at any moment, or a machine that loses its power, leaves the checkpoint before it whole.

The list names a checkpoint from just before it appears until after it is gone, and only those that are there count. So
a kill leaves none that the list does not know, and the next save removes what should have gone. The list names files of
its own directory and nothing else; where it is missing or damaged, the newest file whose name ends in a step is the
latest.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

try:
    import fcntl
except ImportError:  # Windows: savers in one directory have to take turns by themselves
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from numpy.typing import NDArray

__all__ = ["SUFFIX", "Keeping", "Listing", "latest_checkpoint", "read_arrays", "write_checkpoint"]

SUFFIX = ".safetensors"
_LIST = "checkpoint"
_SAVING = ".saving"
_STEPPED = re.compile(r"-\d+" + re.escape(SUFFIX) + "$")
_STALE_SECS = 3600.0
_LOCK_TRIES, _LOCK_PAUSE_SECS = 1000, 0.01
_changing: set[int] = set()  # the threads that change a list


class Keeping(NamedTuple):
    """Which of a model's checkpoints remain.

    Attributes:
        stem: the model's name, with which their names begin.
        max_to_keep: so many remain; None is all.
        every_secs: of those that go, one in so many seconds is kept for good,
        start: counted from then, in seconds since the epoch.
    """

    stem: str
    max_to_keep: int | None
    every_secs: float
    start: float

    def owns(self, name: str) -> bool:
        """Whether a file is a checkpoint of this model."""
        return re.fullmatch(re.escape(self.stem) + r"(-\d+)?" + re.escape(SUFFIX), name) is not None


class Listing(NamedTuple):
    """What a directory's list says.

    Attributes:
        checkpoints: name → when it was written, in seconds since the epoch, oldest first.
        kept: likewise, those that no saver removes any more.
    """

    checkpoints: dict[str, float]
    kept: dict[str, float]

    @classmethod
    def of(cls, directory: str) -> Listing:
        """The list of a directory; made from its files, where it is missing or damaged."""
        try:
            with open(os.path.join(directory, _LIST), encoding="utf-8") as file:
                found = json.load(file)
            return cls(*(_present(directory, found[key]) for key in cls._fields))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls(_by_age(directory), {})

    def with_new(self, name: str, secs: float, keeping: Keeping) -> tuple[Listing, list[str]]:
        """The list with one more checkpoint, written at `secs`, and the names of those that go for it: still listed."""
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
        return Listing(checkpoints, kept), going


def latest_checkpoint(checkpoint_dir: str | os.PathLike[str]) -> str | None:
    """The path of the directory's latest checkpoint, for a Saver to restore; None where there is none.

    Args:
        checkpoint_dir: where a Saver saved. A checkpoint that has been removed since does not count.

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
    names = list(Listing.of(directory).checkpoints)
    return os.path.join(directory, names[-1]) if names else None


def write_checkpoint(path: str, arrays: Mapping[str, NDArray[Any]], keeping: Keeping) -> list[str]:
    """Write a checkpoint, list it, and remove those that go for it.

    Args:
        path: the file's.
        arrays: name → array, C-contiguous.
        keeping: which of the model's checkpoints remain.

    Returns:
        The names of the model's checkpoints that are listed now, oldest first.

    Raises:
        OSError: it cannot be written. What was there is as it was.
        ImportError: safetensors is not installed.
    """
    directory, name = os.path.split(path)
    directory = directory or os.curdir
    os.makedirs(directory, exist_ok=True)
    _remove_stale(directory, keeping.stem)
    with _scratch(directory, keeping.stem) as scratch:
        new, new_list = os.path.join(scratch, name), os.path.join(scratch, _LIST)
        _write_arrays(new, arrays, path)
        with _alone_in(directory):
            listing, going = Listing.of(directory).with_new(name, time.time(), keeping)
            with open(new_list, "w", encoding="utf-8") as file:
                json.dump(listing._asdict(), file, indent=1)
            os.chmod(new, os.stat(new_list).st_mode)  # safetensors lets nobody else read its files; the umask decides
            _sync(new)
            _sync(new_list)
            os.replace(new_list, os.path.join(directory, _LIST))
            _sync(directory)
            os.replace(new, path)
            _sync(directory)  # it is there, before an older one goes
            for old in going:
                with contextlib.suppress(OSError):
                    os.remove(os.path.join(directory, old))
    return [old for old in listing.checkpoints if keeping.owns(old) and old not in going]


def read_arrays(path: str, check: Callable[[Mapping[str, tuple[tuple[int, ...], str]]], None]) -> dict[str, Any]:
    """The arrays of a checkpoint, by name.

    Args:
        path: the file's.
        check: is given name → (shape, safetensors' name of the dtype) before any array is read, and may raise.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no safetensors file, or is damaged.
        ImportError: safetensors is not installed.
    """
    safetensors = _safetensors()
    with open(path, "rb"):  # an error that names the file
        pass
    try:
        with safetensors.safe_open(path, framework="np") as file:
            parts = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
            check({name: (tuple(part.get_shape()), part.get_dtype()) for name, part in parts.items()})
            return {name: file.get_tensor(name) for name in parts}
    except safetensors.SafetensorError as error:
        raise ValueError(f"{path!r} is no checkpoint, or is damaged: {error}") from error


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
        safetensors.numpy.save_file(dict(arrays), path)
    except safetensors.SafetensorError as error:  # an error of the system comes as words
        number = re.search(r"(?:os error|code:) (\d+)", str(error))
        code, text = (int(number[1]), os.strerror(int(number[1]))) if number else (errno.EIO, str(error))
        raise OSError(code, text, final_path) from error


def _present(directory: str, listed: Mapping[str, float]) -> dict[str, float]:
    """Those of the files listed that are there. What is no file's name leads nowhere: nobody's list is trusted."""
    plain = {name: float(secs) for name, secs in listed.items() if os.path.basename(name) == name}
    return {name: secs for name, secs in plain.items() if os.path.isfile(os.path.join(directory, name))}


def _by_age(directory: str) -> dict[str, float]:
    """The files whose names end in a step. Another may be anybody's: weights to begin with, for one."""
    try:
        with os.scandir(directory) as found:
            files = [(entry.stat().st_mtime, entry.name) for entry in found if _STEPPED.search(entry.name)]
        return {name: secs for secs, name in sorted(files)}
    except OSError:
        return {}


@contextlib.contextmanager
def _scratch(directory: str, stem: str) -> Iterator[str]:
    scratch = tempfile.mkdtemp(dir=directory, prefix=f".{stem}.", suffix=_SAVING)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def _alone_in(directory: str) -> Iterator[None]:
    """Of several savers, in threads and in processes, one at a time changes the list of a directory.

    Never waits for ever: a child that was forked at a bad moment may hold the lock of a process that is gone.
    """
    me = threading.get_ident()
    if fcntl is None or me in _changing:  # a signal handler that saves, while its thread does
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
            fcntl.flock(handle, fcntl.LOCK_UN)  # closing alone would leave it to a forked child
        os.close(handle)


def _remove_stale(directory: str, stem: str) -> None:
    """Remove what savers that were killed left behind; what is young may be another process's, at work."""
    with os.scandir(directory) as found:
        left = [entry for entry in found if entry.name.startswith(f".{stem}.") and entry.name.endswith(_SAVING)]
    for entry in left:
        with contextlib.suppress(OSError):
            if time.time() - entry.stat().st_mtime > _STALE_SECS:
                shutil.rmtree(entry.path)


def _sync(path: str) -> None:
    """Return when the file, or the directory's names, are on the disk."""
    posix = hasattr(os, "O_DIRECTORY")
    if os.path.isdir(path) and not posix:
        return  # Windows has no handle for it
    descriptor = os.open(path, os.O_RDONLY if posix else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
