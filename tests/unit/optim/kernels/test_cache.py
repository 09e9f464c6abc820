"""Kernels are cached on disk, and compiled again if they are damaged."""

import logging

import pytest

from optim import rules
from optim.kernels import compiled

numba = pytest.importorskip("numba", reason="the extra `fast` is not installed")


@pytest.mark.parametrize(("suffix", "damage"), [(".nbi", b"?"), (".nbc", b"?"), (".nbi", b""), (".py", b"")])
def test_a_damaged_kernel_is_made_again(tmp_path, monkeypatch, caplog, suffix, damage):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiled, "_made", {})
    assert compiled.kernel(rules.GRADIENT_DESCENT, "float32", report=False) is not None
    (kernel,) = tmp_path.glob("compiled/*.py")
    for path in tmp_path.rglob(f"*{suffix}"):
        path.write_bytes(damage)
    for path in tmp_path.rglob("*.pyc"):
        path.unlink()
    compiled._made.clear()
    caplog.clear()
    with caplog.at_level(logging.WARNING, "optim"):
        assert compiled.kernel(rules.GRADIENT_DESCENT, "float32", report=False) is not None
    assert caplog.messages[0].startswith(
        f"the kernel gradient_descent_float32 cached in {kernel} cannot be used and is compiled again: "
    )
    caplog.clear()
    compiled._made.clear()
    assert compiled.kernel(rules.GRADIENT_DESCENT, "float32", report=False) is not None
    assert caplog.messages == []


def test_numba_may_be_switched_off(monkeypatch, caplog):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setattr(compiled, "_made", {})
    monkeypatch.setattr(compiled, "_wanted", [])
    assert not compiled.available()
    assert caplog.messages == ["numba cannot compile here, so NumPy runs the formulas: NUMBA_DISABLE_JIT is set"]
