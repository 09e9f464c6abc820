"""Kernels on disk: generated source files, compiled by numba once per machine.

A kernel's file is named after its rule, its dtype, and a hash of its text and of the versions that made it. So a
changed formula has another file, and numba's cache next to it is never stale. The directory is the one for all compiled
code: no other user may write to it, because numba unpickles its cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from summaries.native import place
from summaries.native.announcing import announce, announced_as

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["load", "loading_many"]

_log = logging.getLogger("optim")


def load(title: str, source: str) -> Any:
    """Write the module if it is not on disk yet, and import it: numba compiles it, or loads it from its cache.

    Raises:
        RuntimeError: numba is switched off.
    """
    import llvmlite  # noqa: PLC0415 - comes with numba
    import numba  # noqa: PLC0415 - optional, and takes most of a second to import

    if numba.config.DISABLE_JIT:
        raise RuntimeError("NUMBA_DISABLE_JIT is set")
    with open(importlib.util.find_spec("optim.kernels.intrinsics").origin, "rb") as file:  # type: ignore[union-attr, arg-type]
        parts = (source.encode(), file.read(), numba.__version__.encode(), llvmlite.__version__.encode())
    name = f"{title}_{hashlib.sha256(b'|'.join(parts)).hexdigest()[:16]}"
    path = os.path.join(place.writable_directory(), f"{name}.py")
    if os.path.exists(path):
        try:
            return _imported(title, name, path)
        except Exception as error:  # noqa: BLE001 - pickle raises many types for a damaged file
            _log.warning("the kernel %s cached in %s cannot be used and is compiled again: %s", title, path, error)
            _forget(name, path)
    announce(f"the kernel {title}", _log)
    place.write(path, source.encode())
    return _imported(title, name, path)


def loading_many() -> AbstractContextManager[None]:
    """Within the block, the log has one line for all kernels that are compiled, instead of one for each."""
    return announced_as("the kernels of optimizers", _log)


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
