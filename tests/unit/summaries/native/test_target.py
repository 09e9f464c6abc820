"""Code is made for a level of processors, which an image's builder and its users share."""

import pytest

from summaries.native.target import _V2, _V3, Target, _target, host


@pytest.mark.parametrize(
    ("triple", "features", "want"),
    [
        ("x86_64-unknown-linux-gnu", _V3 | {"avx512f"}, ("x86-64-v3", "", "x86")),
        ("x86_64-unknown-linux-gnu", _V3 - {"avx2"}, ("x86-64-v2", "", "x86")),
        ("x86_64-pc-windows-msvc", _V2, ("x86-64-v2", "", "x86")),
        ("aarch64-unknown-linux-gnu", {"crc", "neon"}, ("generic", "+crc,+neon", "arm")),
        ("arm64-apple-darwin", {"crc", "neon"}, ("generic", "+crc,+neon", "arm")),
        ("x86_64-unknown-linux-gnu", _V2 - {"sse4.2"}, None),
        ("aarch64-unknown-linux-gnu", {"neon"}, None),
        ("powerpc64le-unknown-linux-gnu", {"crc"}, None),
    ],
)
def test_levels(triple, features, want):
    assert _target(triple, features) == (want and Target(triple, *want))


def test_this_machine():
    pytest.importorskip("llvmlite", reason="comes with the extra `fast`")
    assert host().triple
    assert host().cpu
