"""The compiled functions that come with the package: found, loaded once, called by name.

A library for each system lies beside this module, in `lib`; `building` makes them. For which level of the processor its
functions are called is decided here, when it is loaded. Without a library for this machine, or with
GRADLEDGER_KERNELS=plain, plain Python and NumPy do everything, with the same results.
"""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from summaries.native.calls import Function
from summaries.native.targets import DIRECTORY, X86, host, seal, x86_level

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["function", "is_available", "use"]

_logger = logging.getLogger("summaries")
_FOLDERS = ("summaries/native", "summaries/wire", "summaries/kinds", "optim/kernels")  # of what is compiled
_ROOT = Path(__file__).parents[2]
_wanted: list[str] = []  # the setting of `use`, at most one


def use(kernels: str | None) -> None:
    """Choose what does the work in this process.

    Args:
        kernels: "plain" for Python and NumPy, "compiled" for compiled code. None follows the environment variable
            GRADLEDGER_KERNELS, read on first use; if it is not set, compiled code is used where there is a library.

    Raises:
        ValueError: `kernels` is not one of these.
        ImportError: `kernels` is "compiled", and there is no library for this machine.
    """
    if kernels not in {None, "plain", "compiled"}:
        raise ValueError(f"kernels must be 'plain', 'compiled' or None, got {kernels!r}")
    if kernels == "compiled" and _library() is None:
        raise ImportError(f"there is no compiled code for this machine, {sys.platform} {platform.machine()}")
    _wanted[:] = [kernels] if kernels else []


def is_available() -> bool:
    """Whether compiled functions are to be used."""
    return (_wanted[0] if _wanted else _told()) != "plain" and _library() is not None


@cache
def _told() -> str:
    told = os.environ.get("GRADLEDGER_KERNELS", "")
    if told not in {"", "plain"}:
        _logger.warning("GRADLEDGER_KERNELS must be 'plain' or not set, got %r, which is ignored", told)
    return told


@cache
def function(name: str) -> Function:
    """The compiled function of this name; `is_available` must hold.

    Raises:
        LookupError: there is no such function for this processor.
    """
    found = _library()
    assert found is not None
    library, levels = found
    for level in levels:
        symbol = getattr(library, f"gradledger_{name}_{level}", None)
        if symbol is not None:
            address = ctypes.cast(symbol, ctypes.c_void_p).value
            assert address is not None
            return Function(name, address)
    raise LookupError(f"there is no compiled function {name!r} for this processor, which is of level {levels[0]}")


@cache
def _library() -> tuple[ctypes.CDLL, tuple[str, ...]] | None:
    """The library for this machine, and the levels that the processor has, the best first; None if there is none."""
    wanted = host()
    if wanted is None:
        return None
    path = os.path.join(DIRECTORY, wanted.file)
    try:
        library = _loaded(path)
        level = _x86_level(library) if wanted.levels == X86 else _arm_level()
    except (OSError, AttributeError) as error:  # AttributeError: it is another library, which lacks our functions
        why = error if os.path.exists(path) else f"{path} is missing"
        remedy = "`make native` builds it" if _is_checkout() else "install gradledger again"
        said = "there is no compiled code, so plain Python does its work, many times slower: %s; %s"
        _logger.warning(said, why, remedy)
        return None
    names = tuple(each.name for each in wanted.levels)
    return (library, names[names.index(level) :]) if level else None


def _loaded(path: str) -> ctypes.CDLL:
    if _is_stale(path):
        raise OSError(f"{path} was made of other sources")
    if _is_damaged(path):
        raise OSError(f"{path} is damaged")
    return ctypes.CDLL(path)


def _is_damaged(path: str) -> bool:
    """Whether a library for Linux is not as it was made, as on a disk that was full: calling it may end the process."""
    start, crc = b"", 0
    with open(path, "rb") as file:
        while piece := file.read(1 << 16):  # not all at once: new memory for a megabyte takes longer than the rest
            start, crc = start or piece, zlib.crc32(piece, crc)
    # Any bytes with their checksum behind them have the same one. Of what is no library, loading raises an error.
    return start.startswith(b"\x7fELF") and crc != zlib.crc32(seal(b""))


def _is_checkout() -> bool:
    return _ROOT.joinpath("hatch_build.py").exists()


def _is_stale(path: str) -> bool:
    """Whether a checkout's library was made of other sources than are there now.

    Then words would mean something else to it, which nothing checks. Sources are compared only if one is newer.
    """
    if not _is_checkout() or not os.path.exists(path):
        return False
    made = os.path.getmtime(path)
    sources = (source for folder in _FOLDERS for source in _ROOT.joinpath(folder).rglob("*.py"))
    if all(source.stat().st_mtime <= made for source in sources):
        return False
    from summaries.native import building  # noqa: PLC0415 - only in a checkout, and only after a change

    return bool(building.stale(os.path.dirname(path)))


def _x86_level(library: ctypes.CDLL) -> str | None:
    registers = (ctypes.c_uint32 * 4)()

    def cpuid(leaf: int, part: int = 0) -> Sequence[int]:
        library.gradledger_cpuid(leaf, part, registers)
        return list(registers)

    return x86_level(cpuid, lambda: int(library.gradledger_xgetbv()))


def _arm_level() -> str | None:
    """The one level of Arm, which needs the instructions for CRC-32C: all of Apple's processors have them."""
    if sys.platform != "linux":
        return "v8"
    hwcap, crc32 = 16, 1 << 7  # AT_HWCAP and HWCAP_CRC32 of Linux
    getauxval = ctypes.CDLL(None).getauxval
    getauxval.argtypes, getauxval.restype = [ctypes.c_ulong], ctypes.c_ulong
    return "v8" if getauxval(hwcap) & crc32 else None
