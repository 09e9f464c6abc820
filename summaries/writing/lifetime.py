"""Handles open writers when their process forks, or ends without closing them."""

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

__all__ = ["close_at_last", "close_before_store", "look_after"]


_logger = logging.getLogger("summaries")


class _Writer(Protocol):
    def close_own_file(self) -> None:
        """Write everything, or raise."""

    def give_up(self) -> str:
        """Forget what could not be written; return how much it was, and the file that lacks it."""

    def after_fork_in_child(self) -> None:
        """Leave waiting events to the parent."""


_live: weakref.WeakValueDictionary[int, _Writer] = weakref.WeakValueDictionary()  # by id: a subclass may have no hash


def look_after(writer: _Writer) -> None:
    """Close this writer when the process ends, and notify it of a fork."""
    _live[id(writer)] = writer
    # A process started by multiprocessing ends without atexit, but runs multiprocessing's own finalizers.
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util is not None and process is not None and process.parent_process() is not None:
        util.Finalize(None, _close_referenced, (weakref.ref(writer),), exitpriority=0)


def close_at_last(writer: _Writer) -> None:
    """Close a writer that was never closed. An error is logged, and becomes a warning: no caller could catch it.

    A subclass's close() is not called: by now, what it uses may be gone.
    """
    try:
        writer.close_own_file()
    except Exception as error:  # noqa: BLE001
        message = f"{writer.give_up()}: {error}"
        with contextlib.suppress(Exception):  # warnings may be errors here
            warnings.warn(message, stacklevel=2)
        try:
            _logger.error(message)  # noqa: TRY400 - filters hide warnings; nobody needs our traceback
        except Exception:  # noqa: BLE001 - so late that logging is gone
            with contextlib.suppress(Exception):
                sys.stderr.write(f"gradledger: {message}\n")


@atexit.register
def _close_all() -> None:
    for writer in list(_live.values()):
        close_at_last(writer)


@cache
def close_before_store(scheme: str) -> None:
    """Close all writers before a store's library closes its connections; call it when the library has opened one.

    Args:
        scheme: of the store's addresses.
    """
    atexit.register(_close_all)  # once more: what is registered last is called first


def _close_referenced(reference: weakref.ref[_Writer]) -> None:
    writer = reference()
    if writer is not None:
        close_at_last(writer)


def _after_fork_in_child() -> None:
    for writer in list(_live.values()):
        writer.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
