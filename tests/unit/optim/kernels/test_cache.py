"""Kernels are cached on disk, where no other user may write, and compiled again if they are damaged."""

import logging
import os

import pytest

from optim import rules
from optim.kernels import cache, compiled

needs_numba = pytest.mark.skipif(not compiled._installed(), reason="the extra `fast` is not installed")


@needs_numba
def test_a_directory_that_others_may_write_to_is_not_used(tmp_path, monkeypatch, caplog):
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(open_to_all))
    monkeypatch.setattr(cache, "_directories", [])
    with caplog.at_level(logging.WARNING, "optim"):
        used = cache._directory()
    assert used != str(open_to_all)
    cache._remove(used, 0)
    assert os.path.isdir(used)
    cache._remove(used, os.getpid())
    assert not os.path.exists(used)
    assert f"kernels cannot be cached in {open_to_all}" in caplog.text


@needs_numba
@pytest.mark.parametrize(("suffix", "damage"), [(".nbi", b"?"), (".nbc", b"?"), (".nbi", b""), (".py", b"")])
def test_a_damaged_kernel_is_made_again(tmp_path, monkeypatch, caplog, suffix, damage):
    monkeypatch.setattr(cache, "_directories", [str(tmp_path)])
    monkeypatch.setattr(compiled, "_made", {})
    assert compiled.kernel(rules.GRADIENT_DESCENT, "float32", report=False) is not None
    (kernel,) = tmp_path.glob("*.py")
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
