"""Compiled kernels: generated source files, compiled by numba once a machine and kept on disk.

A kernel's file is named after its rule, dtype and a hash of its text and of the versions that made it, so a changed
formula is another file, and what numba caches beside it is never stale. Nobody else may write to the directory:
numba's cache is unpickled when it is loaded.

A kernel that is not on disk takes one to three seconds to compile. That happens when it is first used, and the
"optim" logger says so; `compile_kernels` does it beforehand.
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
import threading
import time
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from optim import rules
from optim.kernels import codegen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from optim.rules import Rule

    Kernel = Callable[..., None]

__all__ = ["addresses", "available", "compile_kernels", "kernel", "measure_kernel", "norm_kernel", "use"]

_DTYPES = ("float32", "float64")

_log = logging.getLogger("optim")
_made: dict[tuple[Any, ...], Any] = {}  # by `_once`
_making = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child has locks as they were: numba's and the importer's are then free, too
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
_wanted: list[str] = []  # what `use` was told, at most one


def use(kernels: str | None) -> None:
    """Choose what runs the formulas, in this process.

    Args:
        kernels: "plain" is NumPy, "compiled" is numba; None leaves it to the environment variable GRADLEDGER_KERNELS,
            as it was when it was first needed, and where that is not set, to whether numba is installed.

    Raises:
        ValueError: it is another word.
        ImportError: it is "compiled", and numba is not installed.
    """
    if kernels not in {None, "plain", "compiled"}:
        raise ValueError(f"kernels must be 'plain', 'compiled' or None, got {kernels!r}")
    if kernels == "compiled" and not _installed():
        raise ImportError("compiled kernels need numba: pip install 'gradledger[fast]'")
    _wanted[:] = [kernels] if kernels else []


def available() -> bool:
    """Whether formulas are to be run compiled."""
    wanted = _wanted[0] if _wanted else _by_default()
    return wanted != "plain" and _installed() and bool(_once(_works))


@cache
def _by_default() -> str:
    told = os.environ.get("GRADLEDGER_KERNELS", "")
    if told not in {"", "plain", "compiled"}:
        _log.warning("GRADLEDGER_KERNELS must be 'plain' or 'compiled', got %r: it is not used", told)
    return told


def compile_kernels(
    which: Iterable[Rule] | None = None,
    dtypes: Iterable[str] = ("float32",),
    reports: Iterable[bool] = (False, True),
) -> int:
    """Compile ahead of time what training will use, so that no step waits for it.

    Args:
        which: the rules, from `optim.rules`; by default all of them. An optimizer's is `optimizer.rule`.
        dtypes: "float32", "float64", or both.
        reports: with False the kernels of steps without a detailed report, with True those of steps with one.

    Returns:
        How many kernels are ready; 0 where numba is not installed.

    Raises:
        TypeError: what is to be compiled is no rule.
        ValueError: another dtype.

    >>> from optim import rules
    >>> compile_kernels([rules.GRADIENT_DESCENT], reports=[False]) in (0, 2)  # the rule's, and the global norm's
    True
    """
    chosen = [rule for rule in vars(rules).values() if isinstance(rule, rules.Rule)] if which is None else list(which)
    for rule in chosen:
        if not isinstance(rule, rules.Rule):
            raise TypeError(f"which must be rules, as optimizer.rule is, got {type(rule).__name__}")
    wanted, with_report = [dtypes] if isinstance(dtypes, str) else list(dtypes), list(reports)
    for dtype in wanted:
        if dtype not in _DTYPES:
            raise ValueError(f"kernels are compiled for float32 and float64, got {dtype!r}")
    ready = 0
    if not available():
        return ready
    for dtype in wanted:
        found = [norm_kernel(dtype), *(kernel(rule, dtype, report) for rule in chosen for report in with_report)]
        found += [measure_kernel(dtype)] if True in with_report else []  # GradientMonitor's, and of sparse steps
        ready += sum(run is not None for run in found)
    return ready


def kernel(rule: Rule, dtype: str, report: bool) -> Kernel | None:
    """The rule's kernel, compiled if need be; None where it cannot be compiled."""
    found: Kernel | None = _once(_from_rule, rule, dtype, report)
    return found


def norm_kernel(dtype: str) -> Kernel:
    """The kernel that sums squares."""
    run: Kernel = _once(_norm_module, dtype).run
    return run


def measure_kernel(dtype: str) -> Kernel:
    """The kernel that measures arrays, and changes none."""
    run: Kernel = _once(_measure_module, dtype).run
    return run


def addresses(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """int64[arrays]: where the elements of each begin."""
    found = np.empty(len(arrays), np.int64)
    _once(_norm_module, "float32").addresses(
        np.array([id(array) for array in arrays], np.int64), object.__basicsize__, found
    )
    return found


def _once(make: Callable[..., Any], *arguments: Any) -> Any:
    """What `make` gives for these arguments; made once a process.

    It is made in a thread where no signal handler is run. So what a handler raises goes to the caller: numba would take
    it for a fault of its own. Making goes on, and the next to ask waits for it.
    """
    key = (make, *arguments)
    try:
        return _made[key]
    except KeyError:
        pass
    if threading.current_thread() is threading.main_thread():
        _apart(partial(_make, key))
    else:
        _make(key)
    return _made[key]


def _make(key: tuple[Any, ...]) -> None:
    with _making:
        if key not in _made:
            _made[key] = key[0](*key[1:])


def _apart(work: Callable[[], None]) -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised again by who asked
            errors.append(error)

    thread = threading.Thread(target=run, name="gradledger-compiler")
    try:
        thread.start()
    except RuntimeError:  # the process is about to end, or may have no more threads
        run()
    else:
        thread.join()
    for error in errors:
        raise error


def _norm_module(dtype: str) -> Any:
    return _load(f"norm_{dtype}", codegen.norm_source(dtype))


def _measure_module(dtype: str) -> Any:
    return _load(f"measure_{dtype}", codegen.measure_source(dtype))


def _from_rule(rule: Rule, dtype: str, report: bool) -> Kernel | None:
    try:
        source = codegen.kernel_source(rule, dtype, report)
        run: Kernel = _load(f"{rule.name}_{dtype}" + "_report" * report, source).run
    except Exception as error:  # noqa: BLE001 - whatever numba has to say, there is another way
        _log.warning("the formula of %s cannot be compiled, NumPy runs it: %s", rule.name, error)
        return None
    return run


def _works() -> bool:
    try:
        _once(_norm_module, "float32")
    except Exception as error:  # noqa: BLE001
        _log.warning("numba compiles nothing here, NumPy runs the formulas: %s", error)
        return False
    return True


def _load(title: str, source: str) -> Any:
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


@cache
def _installed() -> bool:
    return importlib.util.find_spec("numba") is not None
