"""New files and directories that appear whole or not at all, and are on the disk when the call returns.

A local output is made as `durable` says: after a kill or a loss of power there is nothing, or all of it. For an
address, output is written to a temporary directory on the disk and uploaded at the end, object by object: a store has
no rename, but never has half of an object.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from summaries.storage.credentials import without_credentials
from summaries.storage.durable import (
    make_directories,
    remove_leftovers,
    replaced,
    scratch_beside,
    sync,
    sync_tree,
    walk,
)
from summaries.storage.files import created, is_replaceable, place_of
from summaries.storage.names import is_remote, join, relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from summaries.storage.files import Access

__all__ = ["named", "new_directory", "new_file", "refuse_inside"]


def named(target: str | os.PathLike[str]) -> str:
    """The path of a target, which must not be "": a shell's variable without a value would mean the current directory.

    Raises:
        ValueError: it is "".
    """
    path = os.fspath(target)
    if not path:
        raise ValueError("the output must have a name, got ''")
    return path


@contextmanager
def new_directory(target: str | os.PathLike[str], **access: Unpack[Access]) -> Iterator[str]:
    """Yield the path of an empty local directory to fill, which becomes `target` at the end of the block.

    If the block raises, everything in it is removed, and there is no target. Missing parents of the target are created.
    When the block has ended, what is in a local target is on the disk: the originals may be deleted.

    Args:
        target: a path or an address. There must be nothing there yet but, locally, an empty directory.
        **access: how an address is accessed.

    Raises:
        FileExistsError: there is something at the target already, or it is the current directory; raised before the
            block, or at its end if something was put there meanwhile.
        OSError: it cannot be created, renamed or uploaded.
        ValueError: the target is "".

    >>> import tempfile
    >>> target = os.path.join(tempfile.mkdtemp(), "new")
    >>> with new_directory(target) as directory:
    ...     with open(os.path.join(directory, "a"), "w") as file:
    ...         _ = file.write("whole")
    ...     print(os.path.exists(target))
    False
    >>> os.listdir(target)
    ['a']
    """
    target = named(target)
    if is_remote(target):
        _refuse_address(target, **access)
        with TemporaryDirectory(prefix="gradledger_") as directory:
            yield directory
            _upload(directory, target, **access)
        return
    final = os.path.realpath(target)
    _refuse(final, target)
    grown = _prepared(os.path.dirname(final))
    with scratch_beside(final) as scratch:
        new = os.path.join(scratch, os.path.basename(final))
        os.mkdir(new)
        yield new
        _refuse(final, target)
        sync_tree(new)
        if os.name == "nt" and os.path.isdir(final):  # Windows renames to new names only
            os.rmdir(final)
        os.rename(new, final)  # POSIX replaces an empty directory, and only an empty one
        sync(os.path.dirname(final))
    for directory in grown:
        sync(directory)


@contextmanager
def new_file(
    target: str | os.PathLike[str], *, replace: bool = False, follow: bool = True, **access: Unpack[Access]
) -> Iterator[str]:
    """Yield the path of a local file to write, which becomes `target` at the end of the block.

    If the block raises, the target is as it was. Missing parents of the target are created. When the block has ended,
    a local target is on the disk. What is there and is no regular file, such as a pipe, is written itself.

    Args:
        target: a path or an address.
        replace: whether an existing file is replaced at the end; else it is refused.
        follow: whether a link at the target stays, and what it leads to is made or replaced; else the link is replaced.
        **access: how an address is accessed.

    Raises:
        FileExistsError: there is something at the target already, and `replace` is False; or it is a directory.
        OSError: it cannot be renamed or uploaded.
        ValueError: the target is "".

    >>> import tempfile
    >>> target = os.path.join(tempfile.mkdtemp(), "new.csv")
    >>> with new_file(target) as path:
    ...     with open(path, "w") as file:
    ...         _ = file.write("whole")
    ...     print(os.path.exists(target))
    False
    >>> os.path.exists(target)
    True
    """
    target = named(target)
    if is_remote(target):
        if not replace:
            _refuse_address(target, **access)
        with created(target, access.get("storage_options"), new=not replace) as path:
            yield path
        return
    directory, name = os.path.split(target)
    if replace and follow and not is_replaceable(target):
        yield target
        return
    final = os.path.realpath(target) if follow else os.path.join(os.path.realpath(directory), name)
    _refuse_file(final, target, replace=replace)
    grown = _prepared(os.path.dirname(final))
    with replaced(final) as new:
        yield new
        _refuse_file(final, target, replace=replace)
    for directory in grown:
        sync(directory)


def _prepared(directory: str) -> list[str]:
    """Make a directory, without what killed processes left; return those above that are to be synced in the end."""
    grown = make_directories(directory)
    remove_leftovers(directory)
    return grown


def refuse_inside(originals: Iterable[str | os.PathLike[str]], target: str | os.PathLike[str]) -> None:
    """Raise an error if new runs would be written into an original: they would be among its runs from then on.

    Args:
        originals: directories, or files; paths or addresses.
        target: the new directory.

    Raises:
        ValueError: the target is below an original.
    """
    target = os.fspath(target)
    resolved = _resolved(target)
    for each in originals:
        original = os.fspath(each)
        if resolved.startswith(_resolved(original).rstrip("/" + os.sep) + ("/" if is_remote(original) else os.sep)):
            shown, inside = without_credentials(original), without_credentials(target)
            raise ValueError(f"the output must be outside of {shown}, which it is made from, got {inside}")


def _resolved(path: str) -> str:
    return path if is_remote(path) else os.path.realpath(path)


def _refuse(final: str, target: str) -> None:
    if os.path.lexists(final) and not (os.path.isdir(final) and not os.listdir(final)):
        raise FileExistsError(f"the output must be a new directory or an empty one, got {target}, which has contents")
    if final == os.path.realpath(os.curdir):  # it would be replaced, and the shell would still show the empty one
        raise FileExistsError(f"the output must be another directory than the current one, got {target}")


def _refuse_file(final: str, target: str, *, replace: bool) -> None:
    if os.path.isdir(final):
        raise FileExistsError(f"the output must be a file, got {target}, which is a directory")
    if not replace and os.path.lexists(final):
        raise FileExistsError(f"the output must be a new file, got {target}, which exists")


def _refuse_address(target: str, **access: Unpack[Access]) -> None:
    storage, shown = place_of(target, storage_options=access.get("storage_options"))
    if storage.exists(shown):
        raise FileExistsError(f"the output must be a new place, got {without_credentials(target)}, which exists")


def _upload(directory: str, target: str, **access: Unpack[Access]) -> None:
    """Put every file below a local directory at its place below an address, in the order of their names."""
    for folder, folders, files in walk(directory):
        folders.sort()
        inside = relative(folder, directory)
        for name in sorted(files):
            names = (*(() if inside == "." else inside.split("/")), name)
            with created(join(target, *names), access.get("storage_options"), new=True) as placed:
                shutil.move(os.path.join(folder, name), placed)
