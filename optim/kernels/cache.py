"""Kernels on disk: generated source files, compiled by numba once a machine.

A kernel's file is named after its rule, dtype and a hash of its text and of the versions that made it, so a changed
formula is another file, and what numba caches beside it is never stale. Nobody else may write to the directory:
numba's cache is unpickled when it is loaded.
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
    """Write the module where it is not on disk yet, and import it: numba compiles it, or loads what it kept."""
    import llvmlite  # noqa: PLC0415 - comes with numba
    import numba  # noqa: PLC0415 - optional, and takes most of a second to import

    with open(importlib.util.find_spec("optim.kernels.intrinsics").origin, "rb") as file:  # type: ignore[union-attr, arg-type]
        parts = (source.encode(), file.read(), numba.__version__.encode(), llvmlite.__version__.encode())
    name = f"{title}_{hashlib.sha256(b'|'.join(parts)).hexdigest()[:16]}"
    path = os.path.join(_directory(), f"{name}.py")
    if os.path.exists(path):
        try:
            return _imported(title, name, path)
        except Exception as error:  # noqa: BLE001 - pickle says in many ways that a file is damaged
            _log.warning("the kernel %s kept in %s cannot be used, it is made again: %s", title, path, error)
            _forget(name, path)
    _log.warning("compiling the kernel %s, once on this machine (optim.compile_kernels does it beforehand)", title)
    _write(path, source)
    return _imported(title, name, path)


def _imported(title: str, name: str, path: str) -> Any:
    start = time.perf_counter()
    specification = importlib.util.spec_from_file_location(f"gradledger_kernel_{name}", path)
    if specification is None or specification.loader is None:
        raise ImportError(f"the kernel {path} cannot be imported")
    module = importlib.util.module_from_spec(specification)
    sys.modules[module.__name__] = module  # where numba looks for it when it loads what it kept
    specification.loader.exec_module(module)
    if not hasattr(module, "run"):
        raise ImportError(f"there is no kernel in {path}")
    _log.debug("kernel %s ready after %.2f s", title, time.perf_counter() - start)
    return module


def _forget(name: str, path: str) -> None:
    """Remove a kernel's file, and what Python and numba keep beside it."""
    beside = os.path.join(os.path.dirname(path), "__pycache__")
    kept = [os.path.join(beside, file) for file in os.listdir(beside)] if os.path.isdir(beside) else []
    for file in [path, *(file for file in kept if os.path.basename(file).startswith(f"{name}."))]:
        with contextlib.suppress(FileNotFoundError):  # another process may be at it too
            os.remove(file)


def _write(path: str, source: str) -> None:
    """Whole or not at all: another process may be about to import it."""
    descriptor, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(source)
    os.replace(temporary, path)


_directories: list[str] = []


def _directory() -> str:
    """Where kernels are kept: GRADLEDGER_CACHE_DIR, or the user's cache; or a new one where neither can be used."""
    if not _directories:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
        wanted = os.environ.get("GRADLEDGER_CACHE_DIR") or os.path.join(cache, "gradledger", "kernels")
        if not _ours(wanted):
            temporary = tempfile.mkdtemp(prefix="gradledger_kernels_")
            atexit.register(_remove, temporary, os.getpid())
            _log.warning("kernels cannot be kept in %s, so each process compiles its own, in %s", wanted, temporary)
            wanted = temporary
        _directories.append(wanted)
    return _directories[0]


def _remove(directory: str, process: int) -> None:
    if process == os.getpid():  # a forked child leaves its parent's alone
        shutil.rmtree(directory, ignore_errors=True)


def _ours(directory: str) -> bool:
    """Make the directory; whether it can be written to, by nobody else."""
    with contextlib.suppress(OSError):
        os.makedirs(directory, mode=0o700, exist_ok=True)
        state = os.stat(directory)
        alone = not hasattr(os, "getuid") or (state.st_uid == os.getuid() and not state.st_mode & 0o022)
        return alone and os.access(directory, os.W_OK)
    return False
