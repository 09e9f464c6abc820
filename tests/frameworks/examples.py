"""The example of a framework runs, and logs what it says."""

from helpers import ROOT, run

from summaries import read_logdir


def check_example(name, logdir, variable, steps):
    """Run the example, and check what it logs."""
    check_logged(run_example(name, logdir), variable, steps)


def run_example(name, logdir):
    """Run the example, and return the directory."""
    run(ROOT / f"examples/gradients_{name}.py", logdir)
    return logdir


def check_logged(logdir, variable, steps):
    """Each step's norms are logged, those of this variable among them, and clipping has an effect."""
    scalars = read_logdir(logdir)["."].scalars
    for tag in ("global_norm", "clipped_global_norm", f"norm/{variable}"):
        assert len(scalars[f"gradients/{tag}"]) == steps, tag
    before, after = (scalars[f"gradients/{tag}"].value for tag in ("global_norm", "clipped_global_norm"))
    assert (after <= before).all()
    assert (after < before).any()
