"""gradledger top: what it says without a terminal; test_top in views has it in one."""

import io
import sys

import pytest

from summaries.cli import main


@pytest.mark.parametrize("stdin", [io.StringIO(), None])
def test_without_a_keyboard(tmp_path, monkeypatch, capsys, stdin):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdin", stdin)
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert main(["top", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "gradledger: standard input must be a terminal, whose keys can be read\n"


def test_into_a_pipe(tmp_path, capsys):
    assert main(["top", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("gradledger: standard output must be a terminal")
