"""The kernel of a rule of one's own: compiled in the process by numba, when it is first used; or none, without numba.

That takes one to three seconds, which the "optim" logger says.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

from optim.kernels.codegen import kernel_name
from summaries.native.calls import Function

if TYPE_CHECKING:
    from optim.rules import Rule

__all__ = ["has_numba", "kernel"]

_log = logging.getLogger("optim")
_made: dict[tuple[Rule, str, bool], tuple[Function, Any] | None] = {}  # with what keeps the code in memory
_making = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child inherits lock states: so numba's and the importer's locks are free, too
    os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)


def kernel(rule: Rule, dtype: str, report: bool) -> Function | None:
    """The rule's kernel; None if numba is not installed or cannot compile it, so that NumPy runs the formula."""
    key = rule, dtype, report
    if key not in _made:
        # In a thread of its own no signal handler runs. Numba would take an exception of one for an error of its own;
        # and an import that one breaks off may leave the lock of all imports held, and other threads waiting for it.
        apart = threading.Thread(target=_make, args=key, name="gradledger-compiler")
        apart.start()
        apart.join()
    made = _made[key]
    return made[0] if made else None


@cache
def has_numba() -> bool:
    """Whether numba is installed."""
    return importlib.util.find_spec("numba") is not None


@cache
def _has_many_registers() -> bool:
    """Whether the processor is of the level for which kernels that come compiled measure all arrays at once."""
    from llvmlite.binding import get_host_cpu_features  # noqa: PLC0415 - comes with numba

    features = get_host_cpu_features()
    return all(features.get(f"avx512{part}", False) for part in ("f", "dq", "cd", "bw", "vl"))


def _make(rule: Rule, dtype: str, report: bool) -> None:
    with _making:
        if (rule, dtype, report) not in _made:
            _made[rule, dtype, report] = _compiled(rule, dtype, report) if has_numba() else None


def _compiled(rule: Rule, dtype: str, report: bool) -> tuple[Function, Any] | None:
    name = kernel_name(rule, dtype, report)
    try:
        from numba import types  # noqa: PLC0415 - optional, and takes most of a second to import

        from optim.kernels.writing import written  # noqa: PLC0415

        run = written(rule, dtype, report, at_once=report and _has_many_registers())
        _log.warning("compiling the kernel %s, once per process", name)
        run.compile((types.CPointer(types.int64),))
        (code,) = run.overloads.values()
        return Function(name, code.library.get_pointer_to_function(code.fndesc.llvm_func_name)), run
    except Exception as error:  # noqa: BLE001 - whatever goes wrong in numba, NumPy can run the formula
        _log.warning("the formula of %s cannot be compiled, so NumPy runs it: %s", rule.name, error)
        return None
