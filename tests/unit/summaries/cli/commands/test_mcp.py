"""gradledger mcp: what is said of wrong places, and without the SDK; test_server talks to it."""

import subprocess
import sys

import pytest

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
