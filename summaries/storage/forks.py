"""Forks: a child never closes what it inherits of its parent's file systems.

A child has its parent's sockets, and shares the set of them that the parent waits for (Linux's epoll). fsspec forgets
inherited file systems in a child, and whatever then closes their connections takes them out of that set: the parent's
next request on such a connection would wait for its answer forever.
"""

from __future__ import annotations

import os
from typing import Any
from weakref import WeakValueDictionary

__all__ = ["never_close_in_children"]

_used: WeakValueDictionary[int, Any] = WeakValueDictionary()  # by their ids, as equal ones may differ in connections
_held: list[list[Any]] = []  # one list for each fork that is under way


def never_close_in_children(system: Any) -> None:
    """Let children that are forked from now on keep this file system for as long as they live."""
    _used[id(system)] = system


def _hold() -> None:
    _held.append(list(_used.values()))


if hasattr(os, "register_at_fork"):  # before the fork, since fsspec forgets them right after it
    os.register_at_fork(before=_hold, after_in_parent=_held.pop)
