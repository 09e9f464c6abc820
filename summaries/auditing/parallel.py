"""How many runs to audit at a time, and whether in threads or in processes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from summaries.auditing.discovery import RunFiles

__all__ = ["jobs_for"]

# Scanning large runs, without the GIL, is most of their audit: ten of 118 MB took 1.2 s in two threads, 1.2 s in two
# processes, 1.6 s one after the other. Forty of 17 MB took longer in two of either.
_LARGE_BYTES = 64 << 20
# Two processes took 0.6 to 1 s of processor time more than one: 5,000 runs of 5 kB 4.2 s instead of 3.3, and 700 of
# 0.5 MB 2.7 to 3.3 s instead of 2.0. Shared by two that pays only from here on.
_PROCESSES_SECS = 2.5
_RUN_SECS, _BYTE_SECS, _SEEN_BYTES = 6e-4, 4e-9, 1 << 20  # measured with these runs


def jobs_for(runs: Sequence[RunFiles], jobs: int | None, *, processes: bool) -> tuple[int, bool]:
    """How many runs to work on at a time, and whether in processes rather than in threads.

    Args:
        runs: the runs.
        jobs: how many at most; None decides by how much there is to do.
        processes: whether processes may be used. If `jobs` is given, they are.

    Raises:
        ValueError: `jobs` is less than 1.

    >>> from summaries.auditing.discovery import RunFiles
    >>> jobs_for([RunFiles("run", (), 100)] * 2, None, processes=True)
    (1, False)
    """
    if jobs is None:
        cores = os.cpu_count() or 1
        if sum(run.size for run in runs) >= _LARGE_BYTES * len(runs):
            jobs, processes = cores, False
        else:
            jobs = cores if processes and _judging_secs(runs) >= _PROCESSES_SECS else 1
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, got {jobs}")
    jobs = max(min(jobs, len(runs)), 1)
    return jobs, processes and jobs > 1


def _judging_secs(runs: Sequence[RunFiles]) -> float:
    """About how long the rules take, which hold the GIL: they see few points of a large run, but all of a small one."""
    return _RUN_SECS * len(runs) + _BYTE_SECS * sum(min(run.size, _SEEN_BYTES) for run in runs)
