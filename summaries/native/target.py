"""The processor that machine code is made for: a level that many machines share, so that images can carry the code."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

__all__ = ["Target", "host", "target_machine"]

# The levels of https://gitlab.com/x86-psABIs/x86-64-ABI. Nothing that we compile gains from the fourth, AVX-512.
_V2 = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}
_V3 = _V2 | {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}


class Target(NamedTuple):
    """What code is made for, in LLVM's terms.

    Attributes:
        triple: the architecture, the system, the binary interface.
        cpu: a level of the architecture, or a processor.
        features: what the processor has besides.
        crc32c: "x86" or "arm" if it has that architecture's instructions for CRC-32C; or "".
    """

    triple: str
    cpu: str
    features: str = ""
    crc32c: str = ""


@cache
def host() -> Target:
    """What code for this machine is made for. Loads llvmlite, which takes 30 ms, but not numba."""
    from llvmlite import binding  # noqa: PLC0415 - comes with numba

    features = binding.get_host_cpu_features()
    return _target(binding.get_process_triple(), {name for name, has in features.items() if has}) or Target(
        binding.get_process_triple(), binding.get_host_cpu_name(), features.flatten()
    )


def _target(triple: str, features: set[str]) -> Target | None:
    """The level of a machine with these features; None if we know none."""
    architecture = triple.partition("-")[0]
    if architecture == "x86_64" and features >= _V2:
        return Target(triple, "x86-64-v3" if features >= _V3 else "x86-64-v2", crc32c="x86")
    if architecture in {"aarch64", "arm64"} and "crc" in features:
        return Target(triple, "generic", "+crc,+neon", "arm")
    return None


def target_machine() -> Any:
    """LLVM's target machine for `host`, with the options that numba's own has."""
    from llvmlite import binding  # noqa: PLC0415

    with suppress(RuntimeError):  # what llvmlite needed up to 0.44, and refuses since
        binding.initialize()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    triple, cpu, features, _ = host()
    return binding.Target.from_triple(triple).create_target_machine(
        cpu=cpu,
        features=features,
        opt=3,
        reloc="static" if triple.startswith("x86") else "default",
        codemodel="jitdefault",
        jit=True,
    )
