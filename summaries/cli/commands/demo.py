"""`gradledger demo`: train a small network with and without gradient clipping."""

from __future__ import annotations

import os
import subprocess
import sys

import click

from summaries.cli.arguments.options import new_command

_DEMO = "optim.demo.sequential_digits"


@new_command(
    section="Other",
    summary="Train a small network with and without gradient clipping.",
    help="Train a small recurrent network to read digits, with and without gradient clipping, in DIRECTORY "
    "(default: runs/sequential_digits); then say what the event files tell, and what the audit finds.",
    examples=["gradledger demo", "gradledger demo --quick /tmp/demo"],
    status="0 if it ran, 2 if it failed.",
)
@click.argument("directory", type=click.Path(), default="runs/sequential_digits")
@click.option("--quick", is_flag=True, help="A few epochs only: seconds instead of half a minute.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first weights and of the batches.")
def command(directory: str, quick: bool, seed: int) -> int:
    """Run the demo in a process of its own."""
    from summaries.storage.files import is_vacant

    if not is_vacant(directory):
        raise FileExistsError(f"the demo needs a new directory or an empty one, got {directory}")
    # This package never imports optim. BLAS reads its number of threads when NumPy is imported, which it is here; a
    # second one gains nothing with matrices as small as these, and loses much where the machine is busy.
    environment = {
        "OPENBLAS_NUM_THREADS": "1",
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # so that it finds what is found here, and nothing else
    }
    program = [sys.executable, "-P", "-m", _DEMO, "--logdir", directory, "--seed", str(seed)]
    sys.stdout.flush()
    done = subprocess.run([*program, *(["--quick"] if quick else [])], env=environment, check=False)  # noqa: S603 - ours
    return 2 if done.returncode else 0
