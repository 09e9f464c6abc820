"""Directories for what benchmarks write."""

from __future__ import annotations

import os
import tempfile

_MEMORY = "/dev/shm"  # noqa: S108 - a file system in memory


def in_memory() -> tempfile.TemporaryDirectory[str]:
    """A directory in memory, if there is such a file system, so that the disk's variance does not count."""
    return tempfile.TemporaryDirectory(dir=_MEMORY if os.path.isdir(_MEMORY) else None)
