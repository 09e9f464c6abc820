"""The command `demo`: a directory of its own, and the program in a process of its own."""

import os
import subprocess
import sys

import pytest
from helpers import ROOT, assert_learns_if_clipped, event_files

from summaries.cli import main


@pytest.mark.parametrize("entry", ["d/f", "d"])
def test_nothing_that_is_there_is_touched(tmp_path, monkeypatch, capsys, entry):
    monkeypatch.chdir(tmp_path)
    os.makedirs(os.path.dirname(entry) or ".", exist_ok=True)
    (tmp_path / entry).touch()
    assert main(["demo", "d"]) == 2
    assert capsys.readouterr().err == "gradledger: the demo needs a new directory or an empty one, got d\n"


def test_a_directory_in_which_other_modules_lie(tmp_path):
    """What is imported is what the command itself would import."""
    (tmp_path / "optim.py").write_text("raise SystemExit('another optim')")
    (tmp_path / "numpy.py").write_text("raise SystemExit('another numpy')")
    program = [sys.executable, "-P", "-m", "summaries.cli", "demo", "--quick", "--seed", "4", "out"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GRADLEDGER_KERNELS": "plain",  # which announce nothing
        "PYTHONIOENCODING": "cp1252",  # as a pipe has it on Windows
    }
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gradledger view out" in done.stdout
    assert "tensorboard --logdir out" in done.stdout
    assert "\\u2192" in done.stdout  # the arrow, which cp1252 lacks
    for name in ("clipped", "unclipped"):
        assert len(event_files(tmp_path / "out" / name)) == 1
    assert_learns_if_clipped(tmp_path / "out")


def test_a_demo_that_fails(tmp_path, monkeypatch):
    monkeypatch.setattr("summaries.cli.commands.demo._DEMO", "optim.demo.nowhere")
    assert main(["demo", str(tmp_path / "out")]) == 2
