"""What the process calls: at its end, every run file that is still open is closed; after a fork, the child is told."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import warnings
import weakref
from functools import cache
from typing import Protocol

from summaries.storage.deadlines import end_soon

__all__ = ["at_exit", "close_at_last", "close_before_store", "look_after", "notify_of_forks"]

_logger = logging.getLogger("summaries")


class _Forked(Protocol):
    def after_fork_in_child(self) -> None:
        """Renew locks, and leave to the parent what is the parent's."""


class _RunFile(_Forked, Protocol):
    def close(self) -> None:
        """Write everything, or raise."""

    def give_up(self) -> str:
        """Forget what could not be written; return how much it was, and the file that lacks it."""


_run_files: weakref.WeakKeyDictionary[_RunFile, None] = weakref.WeakKeyDictionary()
_parts: weakref.WeakKeyDictionary[_Forked, None] = weakref.WeakKeyDictionary()


def notify_of_forks(part: _Forked) -> None:
    """Call `after_fork_in_child` in each child that this process forks."""
    _parts[part] = None


def look_after(run_file: _RunFile) -> None:
    """Close a run file when the process ends, and notify it of forks."""
    _run_files[run_file] = None
    notify_of_forks(run_file)
    # A process started by multiprocessing ends without atexit, but runs multiprocessing's own finalizers.
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util is not None and process is not None and process.parent_process() is not None:
        util.Finalize(None, _close_referenced, (weakref.ref(run_file),), exitpriority=0)


def close_at_last(run_file: _RunFile) -> None:
    """Close a run file that was never closed. An error is logged, and becomes a warning: no caller could catch it."""
    try:
        run_file.close()
    except Exception as error:  # noqa: BLE001
        message = f"{run_file.give_up()}: {error}"
        with contextlib.suppress(Exception):  # warnings may be errors here
            warnings.warn(message, stacklevel=2)
        try:
            _logger.error(message)  # noqa: TRY400 - filters hide warnings; nobody needs our traceback
        except Exception:  # noqa: BLE001 - so late that logging is gone
            with contextlib.suppress(Exception):
                sys.stderr.write(f"gradledger: {message}\n")


_closing_all: list[bool] = []


@atexit.register
def _close_all() -> None:
    end_soon()
    _closing_all.append(True)  # first: a thread that is still at work may go on with a file that is closed already
    for run_file in list(_run_files):
        close_at_last(run_file)


def at_exit() -> bool:
    """Whether nobody closes what is opened from now on: the process ends, and all open run files are being closed."""
    return bool(_closing_all)


@cache
def close_before_store(scheme: str) -> None:
    """Close all run files before a store's library closes its connections; call it when the library has opened one.

    Args:
        scheme: of the store's addresses.
    """
    atexit.register(_close_all)  # once more: what is registered last is called first


def _close_referenced(reference: weakref.ref[_RunFile]) -> None:
    run_file = reference()
    if run_file is not None:
        close_at_last(run_file)


def _after_fork_in_child() -> None:
    for part in list(_parts):
        part.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
