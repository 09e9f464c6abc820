"""Which level a processor is of, by what CPUID returns."""

import pytest

from summaries.native.targets import TARGETS, built_from, host, x86_level

V2 = {(1, 2): (0, 9, 13, 19, 20, 23), (0x80000001, 2): (0,)}
V3 = {(1, 2): (12, 22, 27, 28, 29), (7, 1): (3, 5, 8), (0x80000001, 2): (5,)}
V4 = {(7, 1): (16, 17, 28, 30, 31)}


def processor(*levels, without=None):
    """What CPUID returns where it has the bits of these levels, but for one."""
    found = {}
    for level in levels:
        for (leaf, register), bits in level.items():
            for bit in bits:
                if (leaf, register, bit) != without:
                    found[leaf, register] = found.get((leaf, register), 0) | 1 << bit

    def cpuid(leaf, part):
        if leaf in (0, 0x80000000):
            return [max((known for known, _ in found if known & 0x80000000 == leaf), default=0), 0, 0, 0]
        return [found.get((leaf, register), 0) for register in range(4)]

    return cpuid


@pytest.mark.parametrize(
    ("levels", "kept", "want"),
    [
        ((), 0, None),
        ((V2,), 0, "v2"),
        ((V2, V3), 0x07, "v3"),
        ((V2, V3, V4), 0xE7, "v4"),
        ((V2, V3, V4), 0x07, "v3"),  # the system does not keep the registers of AVX-512
        ((V2, V3, V4), 0x03, "v2"),
    ],
)
def test_levels(levels, kept, want):
    assert x86_level(processor(*levels), lambda: kept) == want


@pytest.mark.parametrize(
    ("level", "missing", "want"),
    [
        *(("v2", (*place, bit), None) for place, bits in V2.items() for bit in bits),
        *(("v3", (*place, bit), "v2") for place, bits in V3.items() for bit in bits),
        *(("v4", (*place, bit), "v3") for place, bits in V4.items() for bit in bits),
    ],
)
def test_each_instruction_counts(level, missing, want):
    assert x86_level(processor(V2, V3, V4, without=missing), lambda: 0xE7) == want, level


def test_a_processor_without_the_register_is_not_asked_for_it():
    def xgetbv():
        raise AssertionError("it would be an illegal instruction")

    assert x86_level(processor(V2), xgetbv) == "v2"


def test_a_file_that_is_no_library(tmp_path):
    path = tmp_path / "library.so"
    assert built_from(str(path)) is None
    path.write_bytes(b"\x7fELF")
    assert built_from(str(path)) is None
    path.write_bytes(b"\x7fELF..gradledger, built from 0123 numba-1.0\0..")
    assert built_from(str(path)) == "0123 numba-1.0"


@pytest.mark.parametrize(
    ("system", "machine", "want"),
    [
        ("linux", "x86_64", "linux-x86_64.so"),
        ("linux", "aarch64", "linux-aarch64.so"),
        ("darwin", "arm64", "macos-arm64.dylib"),
        ("darwin", "x86_64", "macos-x86_64.dylib"),
        ("win32", "AMD64", "windows-x86_64.dll"),
        ("freebsd14", "amd64", None),
        ("linux", "riscv64", None),
    ],
)
def test_systems(monkeypatch, system, machine, want):
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    found = host()
    assert (found.file if found else None) == want
    assert found is None or found in TARGETS.values()
