"""tensorboard-reducer, which has the statistics of runs from pandas, and ours: the same numbers on the same runs.

The runs have the shapes of its own fixtures: the same tags and steps; other tags and other numbers of steps; steps that
are written twice. They are written by torch's writer, which it is made for.
"""

import numpy as np
import pandas as pd
import pytest
from tensorboard_reducer import load_tb_events, reduce_events, write_tb_events
from torch.utils.tensorboard import SummaryWriter

from summaries import read_logdir
from summaries.tools import reduce

OPERATIONS = ["mean", "std", "min", "max", "median"]


def strict(number):
    """Every fifth step, of the same tag."""
    return [("strict/foo", 5 * step) for step in range(100)]


def lax(number):
    """Ten steps more from run to run, and two tags of which each is in two runs at most."""
    steps = 100 + 10 * number
    return [(tag, step) for step in range(steps) for tag in ("foo", f"bar_{number}", f"bar_{number + 1}")]


def twice(number):
    """The last ten steps again, and as many after them."""
    return [(tag, step) for step in [*range(100), *range(90, 200)] for tag in ("foo", "bar")]


def written(logdir, shape):
    rng = np.random.default_rng(0)
    for number in (1, 2, 3):
        with SummaryWriter(logdir / f"run_{number}") as writer:
            for tag, step in shape(number):
                writer.add_scalar(tag, rng.random() + number, step)
    return [str(logdir / f"run_{number}") for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("shape", "theirs", "ours"),
    [
        (strict, {}, {}),
        (strict, {"strict_steps": False, "min_runs_per_step": 3}, {"align": "union", "min_runs": 3}),
        (lax, {"strict_tags": False, "strict_steps": False}, {}),
        *(
            (
                lax,
                {"strict_tags": False, "strict_steps": False, "min_runs_per_step": least},
                {"align": "union", "min_runs": least},
            )
            for least in (1, 2, 3)
        ),
        (twice, {"handle_dup_steps": "keep-last"}, {}),
    ],
)
def test_the_same_statistics(tmp_path, shape, theirs, ours):
    runs = written(tmp_path, shape)
    reduced = reduce(runs, OPERATIONS, **ours)
    expected = reduce_events(load_tb_events(runs, **theirs), OPERATIONS)
    assert set(reduced) == {tag for tag, series in expected["mean"].items() if len(series)}
    for name, tags in expected.items():
        for tag in reduced:
            found = pd.Series(reduced[tag][name].value, reduced[tag].step)
            pd.testing.assert_series_equal(found, tags[tag].sort_index(), check_names=False, check_index_type=False)


def test_the_same_runs(tmp_path):
    """Which it names OUT-mean, and we OUT/mean; it writes mean+std and mean-std in the place of std."""
    runs = written(tmp_path / "runs", strict)
    write_tb_events(reduce_events(load_tb_events(runs), ["mean", "std", "max"]), str(tmp_path / "theirs"))
    reduce(runs, ["mean", "mean+std", "mean-std", "max"]).write(tmp_path / "ours")
    found = read_logdir(tmp_path / "ours")
    assert sorted(path.name for path in tmp_path.glob("theirs*")) == [f"theirs-{name}" for name in found]
    for name, run in found.items():
        (theirs,) = read_logdir(tmp_path / f"theirs-{name}").values()
        np.testing.assert_allclose(run.scalars["strict/foo"].value, theirs.scalars["strict/foo"].value, rtol=1e-6)
        np.testing.assert_array_equal(run.scalars["strict/foo"].step, theirs.scalars["strict/foo"].step)
