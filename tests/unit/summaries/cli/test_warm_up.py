"""`warm-up` says what it compiled and what was compiled already; its page is run by `test_program_documented`."""

import logging
import re

import pytest

import optim
from summaries.cli import main
from summaries.native import library
from summaries.native.announcing import announce

numba = pytest.importorskip("numba", reason="the extra `fast`")


def test_kernels_of_optimizers(tmp_path, monkeypatch, capsys, caplog):
    monkeypatch.delenv("GRADLEDGER_KERNELS", raising=False)
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))

    def compile_kernels():
        (tmp_path / "compiled").mkdir(exist_ok=True)
        announce("the kernel adam", logging.getLogger("optim"))
        (tmp_path / "compiled/adam.py").write_text("??")
        return 24

    monkeypatch.setattr(optim, "compile_kernels", compile_kernels)
    assert main(["warm-up", "optimizers"]) == 0
    assert main(["warm-up", "optimizers"]) == 0
    compiled, place, again, _ = capsys.readouterr().out.splitlines()
    assert re.sub(r"\d+\.\d s *", "0.0 s ", compiled) == "the kernels of optimizers   compiled in 0.0 s 24 kernels"
    assert re.sub(" +", " ", again) == "the kernels of optimizers already compiled 24 kernels"
    assert caplog.messages == []  # a progress line says it, on a terminal
    assert place == f"in {tmp_path / 'compiled'}: 2 bytes"


def test_kernels_that_are_switched_off(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("GRADLEDGER_KERNELS", "plain")
    assert main(["warm-up", "optimizers"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "the kernels of optimizers   switched off by GRADLEDGER_KERNELS=plain; unset it to switch them on",
        f"in {tmp_path / 'compiled'}: 0 bytes",
    ]


@pytest.mark.parametrize("what", ["reading", "optimizers"])
def test_without_numba(monkeypatch, capsys, what):
    monkeypatch.delenv("GRADLEDGER_KERNELS", raising=False)
    monkeypatch.setattr("summaries.tools.warming.has_compiler", lambda: False)
    assert main(["warm-up", what]) == 2
    assert capsys.readouterr().err == "gradledger: compiling needs numba: pip install 'gradledger[fast]'\n"


def test_a_place_that_cannot_be_written_to(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))
    (tmp_path / "compiled").write_text("no directory")
    monkeypatch.setattr(library.Library, "_compile", lambda *_: b"")
    assert main(["warm-up", "histograms"]) == 2
    place = str(tmp_path / "compiled")
    assert capsys.readouterr().err == f"gradledger: compiled code cannot be kept there: {place!r}\n"


def test_numba_is_switched_off(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GRADLEDGER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert main(["warm-up", "histograms"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "gradledger: numba compiles nothing, because NUMBA_DISABLE_JIT is set"
    )


def test_no_kernel_can_be_compiled(monkeypatch, capsys):
    monkeypatch.delenv("GRADLEDGER_KERNELS", raising=False)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    monkeypatch.setattr("optim.kernels.compiled._made", {})  # nothing is loaded yet
    assert main(["warm-up", "optimizers"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "gradledger: the kernels of optimizers cannot be compiled here: the log says why\n")
