"""Keys by name, from a terminal that may go away."""

import io
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.cli.views.keyboard import keyboard, names

posix = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")


@given(st.text())
def test_whatever_is_typed_has_printable_names(typed):
    assert all(name.isprintable() for name in names(typed))


def test_sequences():
    assert names("k\x1b[A\x1bOB\x1b[5~\x1b[6~\x1b[C\x1b[D") == [
        "k",
        "up",
        "down",
        "page up",
        "page down",
        "right",
        "left",
    ]
    assert names("\x1b[200~\x1b[1;5A\x07\x00") == []


def test_standard_input_must_be_a_terminal(monkeypatch):
    for stdin in (io.StringIO(), None):
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(OSError, match="standard input must be a terminal, whose keys can be read"), keyboard():
            pass


@posix
def test_keys_come_at_once_and_the_terminal_is_given_back(monkeypatch):
    import termios

    master, slave = os.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        before = termios.tcgetattr(slave)
        with keyboard() as pressed:
            assert pressed(0.0) == []
            os.write(master, b"x\x1b[A")
            assert pressed(60.0) == ["x", "up"]
        assert termios.tcgetattr(slave) == before
        with keyboard() as pressed:
            os.close(master)
            with pytest.raises(EOFError, match="the terminal has gone"):
                pressed(60.0)
