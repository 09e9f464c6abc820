"""The example program finds what it says."""

import re
import subprocess
import sys

from helpers import ROOT


def test_audit_on_dask(tmp_path):
    program = ROOT / "examples/audit_on_dask.py"
    done = subprocess.run(
        [sys.executable, program, tmp_path / "runs"], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.splitlines()[-3:] == [
        "lr=4.0/seed=18: GL304 loss-diverges",
        "lr=4.0/seed=19: GL304 loss-diverges",
        "60 runs audited by 2 workers: 20 with errors",
    ]
    # On a busy machine, Dask says that a process took long to end, such as "… - distributed.nanny - WARNING - …".
    assert [line for line in done.stderr.splitlines() if not re.match(r"\S+ \S+ - distributed\.\S+ - ", line)] == []
