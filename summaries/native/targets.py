"""The machines that compiled code is made for: a library for each system, and levels of the processor in it.

A library's functions are there once for each level, and which one is called is decided when it is loaded.

References: the levels of https://gitlab.com/x86-psABIs/x86-64-ABI
"""

from __future__ import annotations

import os
import platform
import sys
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "DIRECTORY",
    "MARK",
    "TARGETS",
    "X86",
    "Level",
    "Target",
    "built_from",
    "host",
    "seal",
    "x86_level",
]

DIRECTORY = os.path.join(os.path.dirname(__file__), "lib")
"""Where the libraries are."""

MARK = "gradledger, built from "
"""A library has a text that begins with this, and goes on with what `built_from` returns."""


class Level(NamedTuple):
    """A level of the processor, in LLVM's terms.

    Attributes:
        name: the end of the names of its functions.
        cpu: a level of the architecture, or a processor.
        features: what the processor has besides.
    """

    name: str
    cpu: str
    features: str = ""


class Target(NamedTuple):
    """A system that has a library.

    Attributes:
        file: the library's name.
        triple: the architecture, the system and the binary interface, in LLVM's terms.
        linker: the same in the linker's terms.
        levels: the levels of the processor, the best first.
    """

    file: str
    triple: str
    linker: str
    levels: tuple[Level, ...]


V2, V3, V4 = (Level(f"v{number}", f"x86-64-v{number}") for number in (2, 3, 4))
X86 = (V4, V3, V2)
_ARM = (Level("v8", "generic", "+crc,+neon"),)

TARGETS = {
    ("linux", "x86_64"): Target("linux-x86_64.so", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17", X86),
    ("linux", "aarch64"): Target("linux-aarch64.so", "aarch64-unknown-linux-gnu", "aarch64-linux-gnu.2.17", _ARM),
    ("darwin", "arm64"): Target("macos-arm64.dylib", "arm64-apple-darwin", "aarch64-macos", _ARM),
    ("darwin", "x86_64"): Target("macos-x86_64.dylib", "x86_64-apple-darwin", "x86_64-macos", X86),
    ("win32", "amd64"): Target("windows-x86_64.dll", "x86_64-pc-windows-msvc", "x86_64-windows-gnu", X86),
}
"""(sys.platform, platform.machine() in lower case) → its target."""


def host() -> Target | None:
    """What is built for this system; None if nothing is."""
    return TARGETS.get((sys.platform, platform.machine().lower()))


def built_from(path: str) -> str | None:
    """What a library was made of, as it says itself: a digest of the sources, and packages; None if it is not there."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = data.find(MARK.encode())
    return data[start + len(MARK) : data.find(b"\0", start)].decode() if start >= 0 else None


def seal(data: bytes | memoryview) -> bytes:
    """The checksum of a library for Linux, which follows its bytes, where the system's loader does not look."""
    return zlib.crc32(data).to_bytes(4, "little")


# Bits of what CPUID returns, by leaf and register (0 to 3: eax, ebx, ecx, edx), for each level beyond the one before.
_NEEDED: dict[str, dict[tuple[int, int], tuple[int, ...]]] = {
    V2.name: {(1, 2): (0, 9, 13, 19, 20, 23), (0x80000001, 2): (0,)},  # SSE3 to SSE4.2, CMPXCHG16B, POPCNT; LAHF
    V3.name: {(1, 2): (12, 22, 27, 28, 29), (7, 1): (3, 5, 8), (0x80000001, 2): (5,)},  # AVX, FMA, …; AVX2, BMI; LZCNT
    V4.name: {(7, 1): (16, 17, 28, 30, 31)},  # AVX-512 F, DQ, CD, BW, VL
}
_KEPT_BY_THE_SYSTEM = {V3.name: 0x06, V4.name: 0xE6}  # of XCR0: which registers survive a switch of threads


def x86_level(cpuid: Callable[[int, int], Sequence[int]], xgetbv: Callable[[], int]) -> str | None:
    """The best level for a processor; None if it is below all of them.

    Args:
        cpuid: (leaf, part) → eax, ebx, ecx, edx.
        xgetbv: → the lower half of the register XCR0; called only where there is one.

    References: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2A, CPUID
    """
    best = None
    for level, needed in _NEEDED.items():
        if not all(_has(cpuid, leaf, register, bits) for (leaf, register), bits in needed.items()):
            break
        kept = _KEPT_BY_THE_SYSTEM.get(level, 0)
        if kept and xgetbv() & kept != kept:
            break
        best = level
    return best


def _has(cpuid: Callable[[int, int], Sequence[int]], leaf: int, register: int, bits: Sequence[int]) -> bool:
    """Whether all of these bits are set; none is in a leaf that the processor does not have."""
    if cpuid(leaf & 0x80000000, 0)[0] < leaf:
        return False
    found = cpuid(leaf, 0)[register]
    return all(found >> bit & 1 for bit in bits)
