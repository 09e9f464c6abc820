"""Runs a program on two processes of torch.distributed."""

import os
import subprocess
import sys

from helpers import ROOT


def run_ranks(program, directory, count=2):
    """Run `program DIRECTORY RANK` as each of the ranks, and return the directory."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    if sys.platform == "linux":
        environment["GLOO_SOCKET_IFNAME"] = "lo"  # otherwise it looks up the machine's name, which may take long
    ranks = [
        subprocess.Popen(
            [sys.executable, str(ROOT / "tests/frameworks" / program), str(directory), str(rank)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(count)
    ]
    said = [rank.communicate(timeout=1200)[0] for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * count, "\n".join(said)
    return directory
