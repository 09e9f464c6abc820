"""GL751: replicas on two processes, the same and not the same; nobody waits for a rank that is not attached."""

import os
import subprocess
import sys

import pytest
from helpers import ROOT

from summaries import audit

pytest.importorskip("torch", reason="torch is not installed: make frameworks")


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("as it should be", []),
        ("no_sync", []),
        ("rank 0 only", []),
        (
            "past the wrapper",
            ["0.weight, 0.bias and 2 others differ between the replicas at step 1: rank 0 and rank 1"],
        ),
        ("by hand", ["1.bias differs between the replicas at step 8: rank 0 and rank 1"]),
    ],
)
def test_replicas(how, told, tmp_path):
    program = [sys.executable, "-W", "ignore", str(ROOT / "tests/frameworks/replicas.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    arguments = [str(tmp_path / "store"), str(tmp_path / "run"), how]
    ranks = [subprocess.Popen([*program, str(rank), *arguments], env=environment) for rank in range(2)]
    assert [rank.wait(100) for rank in ranks] == [0, 0]
    findings = audit(tmp_path / "run").findings
    assert [finding.message for finding in findings if finding.code.startswith("GL7")] == told
