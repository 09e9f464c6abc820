"""Audit a sweep on a Dask cluster: python examples/audit_on_dask.py [LOGDIR] [SCHEDULER].

Without an address it starts a cluster of two processes on this machine. Whatever the cluster is, the workers read the
files, and only findings come back; `audit` takes any other executor of `concurrent.futures` in the same way.
"""

import os
import sys
import tempfile

import numpy as np
from distributed import Client, LocalCluster

from summaries import Severity, SummaryWriter, audit

RATES = (0.04, 0.4, 4.0)


def log_sweep(logdir: str, seeds: int = 20, steps: int = 100) -> None:
    """Log runs of gradient descent on a bowl; at the largest of the rates it diverges."""
    for rate in RATES:
        for seed in range(seeds):
            weights = np.random.default_rng(seed).standard_normal(10)
            with SummaryWriter(os.path.join(logdir, f"lr={rate}", f"seed={seed}")) as writer:
                for step in range(steps):
                    writer.add_scalar("train/loss", float(weights @ weights), step)
                    weights -= rate * 0.52 * weights


def main(logdir: str, scheduler: str | None = None) -> None:
    """Log the sweep, audit it on the cluster, and print the first finding of each run that has an error."""
    log_sweep(logdir)
    with Client(scheduler or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")) as client:
        report = audit(logdir, executor=client.get_executor())
        workers = len(client.nthreads())
    bad = [run for run in report.runs if run.worst is Severity.ERROR]
    for run in bad:
        print(f"{run.name}: {run.findings[0].code} {run.findings[0].name}")
    print(f"{len(report.runs)} runs audited by {workers} workers: {len(bad)} with errors")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(), *sys.argv[2:3])
