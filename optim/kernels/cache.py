"""Kernels on disk: generated source files, compiled by numba once per machine.

A kernel's file is named after its rule, its dtype, and a hash of its text and of the versions that made it. So a
changed formula has another file, and numba's cache next to it is never stale. No other user may write to the directory,
because numba unpickles its cache.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
import logging
import os
import shutil
import sys
import tempfile
import time
from typing import Any

__all__ = ["load"]

_log = logging.getLogger("optim")


def load(title: str, source: str) -> Any:
    """Write the module if it is not on disk yet, and import it: numba compiles it, or loads it from its cache."""
    import llvmlite  # noqa: PLC0415 - comes with numba
    import numba  # noqa: PLC0415 - optional, and takes most of a second to import

    with open(importlib.util.find_spec("optim.kernels.intrinsics").origin, "rb") as file:  # type: ignore[union-attr, arg-type]
        parts = (source.encode(), file.read(), numba.__version__.encode(), llvmlite.__version__.encode())
    name = f"{title}_{hashlib.sha256(b'|'.join(parts)).hexdigest()[:16]}"
    path = os.path.join(_directory(), f"{name}.py")
    if os.path.exists(path):
        try:
            return _imported(title, name, path)
        except Exception as error:  # noqa: BLE001 - pickle raises many types for a damaged file
            _log.warning("the kernel %s cached in %s cannot be used and is compiled again: %s", title, path, error)
            _forget(name, path)
    _log.warning("compiling the kernel %s, once per machine (optim.compile_kernels does it ahead of time)", title)
    _write(path, source)
    return _imported(title, name, path)


def _imported(title: str, name: str, path: str) -> Any:
    start = time.perf_counter()
    specification = importlib.util.spec_from_file_location(f"gradledger_kernel_{name}", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"the kernel {path} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module  # numba looks for it there when it loads its cache
    specification.loader.exec_module(module)
    if not hasattr(module, "run"):
        raise ImportError(f"there is no kernel in {path}")
    _log.debug("kernel %s ready after %.2f s", title, time.perf_counter() - start)
    return module


def _forget(name: str, path: str) -> None:
    """Remove a kernel's file, and Python's and numba's cache files for it."""
    pycache = os.path.join(os.path.dirname(path), "__pycache__")
    kept = [os.path.join(pycache, file) for file in os.listdir(pycache)] if os.path.isdir(pycache) else []
    for file in [path, *(file for file in kept if os.path.basename(file).startswith(f"{name}."))]:
        with contextlib.suppress(FileNotFoundError):  # another process may be removing it too
            os.remove(file)


def _write(path: str, source: str) -> None:
    """Write a file atomically: another process may be importing it."""
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(source)
    os.replace(temporary, path)


_directories: list[str] = []


def _directory() -> str:
    """The directory for kernels: GRADLEDGER_CACHE_DIR, or the user's cache; a temporary one if that is unusable."""
    if not _directories:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        wanted = os.environ.get("GRADLEDGER_CACHE_DIR") or os.path.join(cache, "gradledger", "kernels")
        if not _ours(wanted):
            temporary = tempfile.mkdtemp(prefix="gradledger_kernels_")
            atexit.register(_remove, temporary, os.getpid())
            _log.warning("kernels cannot be cached in %s, so each process compiles its own, in %s", wanted, temporary)
            wanted = temporary
        _directories.append(wanted)
    return _directories[0]


def _remove(directory: str, process: int) -> None:
    if process == os.getpid():  # a forked child must not remove its parent's
        shutil.rmtree(directory, ignore_errors=True)


def _ours(directory: str) -> bool:
    """Create the directory; return whether we can write to it, and no other user can."""
    with contextlib.suppress(OSError):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        state = os.stat(directory)
        alone = not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)
        return alone and os.access(directory, os.W_OK)
    return False
