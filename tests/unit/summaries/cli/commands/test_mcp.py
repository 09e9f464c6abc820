"""gradledger mcp: what is said of wrong places, and without the SDK; test_server talks to it."""

import signal
import subprocess
import sys
import time

import pytest
from processes.terminals import terminal

from summaries.cli import main


def test_a_place_that_does_not_exist(tmp_path, capsys):
    pytest.importorskip("mcp")
    assert main(["mcp", str(tmp_path / "missing")]) == 2
    assert "missing" in capsys.readouterr().err


def test_without_the_sdk(tmp_path):
    program = "import sys; sys.modules['mcp'] = None; from summaries.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "mcp", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "gradledger: this needs mcp: pip install 'gradledger[mcp]'",
    )


def test_it_ends_with_its_input(tmp_path):
    pytest.importorskip("mcp")
    done = subprocess.run(
        [sys.executable, "-m", "summaries", "mcp", str(tmp_path)], input=b"", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of other systems")
def test_in_a_terminal_it_says_what_it_waits_for_and_ends_with_ctrl_c(tmp_path):
    pytest.importorskip("mcp")
    with terminal(["mcp", str(tmp_path)]) as shown:
        shown.shows("Waiting for a program's questions on standard input. Ctrl-C ends this.")
        time.sleep(1)  # until the SDK reads
        shown.type("\x03")
        assert shown.ended() == -signal.SIGINT
