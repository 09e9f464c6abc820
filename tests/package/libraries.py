"""The libraries of all systems, made on one processor: `python -m package.libraries`, before `test_systems.py`.

This system's is there already, and was made on as many processors as there are; `test_systems.py` compares the two.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from summaries.native.building import ROOT
from summaries.native.targets import DIRECTORY, TARGETS, host

__all__ = ["MADE_ON_ONE"]

MADE_ON_ONE = ROOT / "build" / "libraries"


def main() -> None:
    """Make all that are not up to date, and put those of other systems to this system's."""
    one = min(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "summaries.native.building", "--all", "--output", MADE_ON_ONE]
    subprocess.run(command, check=True, cwd=ROOT, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
    own = host()
    for target in TARGETS.values():
        if target != own:
            shutil.copyfile(MADE_ON_ONE / target.file, os.path.join(DIRECTORY, target.file))


if __name__ == "__main__":
    main()
