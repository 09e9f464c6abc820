"""What we write, tensorboard's two readers read: every point of every tag."""

import math

import numpy as np
import pytest
from interop.tensorboard_readers import by_accumulator, by_server

from summaries import EventFileWriter, NonFiniteWarning, Summary

STEPS = 1100  # TensorBoard keeps 1,000 of a tag when it is not asked to keep all


def columns():
    """{tag: [(step, wall time, value)]}; values as float32 has them."""
    rng = np.random.default_rng(0)
    tags = {tag: rng.standard_normal(STEPS).astype(np.float32) for tag in ("loss", "train/loss", "損失", "t" * 2000)}
    tags["constant"] = np.full(STEPS, 0.1, np.float32)
    return {tag: [(i, 1.5e9 + i / 8, float(value)) for i, value in enumerate(values)] for tag, values in tags.items()}


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """Two runs with the same points: one of scalars, the other of summaries with several values."""
    logdir = tmp_path_factory.mktemp("logdir") / "runs"
    points = columns()
    with EventFileWriter(logdir / "scalars") as writer:
        for rows in zip(*points.values(), strict=True):
            for tag, (step, wall_time, value) in zip(points, rows, strict=True):
                writer.add_scalar(tag, value, step, wall_time)
    with EventFileWriter(logdir / "summaries") as writer:
        for rows in zip(*points.values(), strict=True):
            values = [Summary.Value(tag=tag, simple_value=row[2]) for tag, row in zip(points, rows, strict=True)]
            writer.add_summary(Summary(value=values), rows[0][0], rows[0][1])
    return logdir


def expected():
    return {"scalars": columns(), "summaries": columns()}


def test_event_accumulator(logdir):
    assert by_accumulator(logdir) == expected()


def test_data_server(logdir):
    def finished(runs):
        return len(runs) == 2 and all(
            len(tags) == len(columns()) and all(len(points) == STEPS for points in tags.values())
            for tags in runs.values()
        )

    assert by_server(logdir, finished) == expected()


@pytest.mark.filterwarnings("ignore", category=NonFiniteWarning)
def test_values_that_are_not_finite(tmp_path):
    with EventFileWriter(tmp_path / "runs" / "run") as writer:
        for step, value in enumerate([math.nan, math.inf, -math.inf, 1e300]):
            writer.add_scalar("loss", value, step, 1.5e9)

    def finished(runs):
        return [len(points) for tags in runs.values() for points in tags.values()] == [4]

    for runs in (by_accumulator(tmp_path / "runs"), by_server(tmp_path / "runs", finished)):
        np.testing.assert_array_equal(
            [point[2] for point in runs["run"]["loss"]], [math.nan, math.inf, -math.inf, math.inf]
        )


def test_a_run_of_several_files(tmp_path):
    """A writer that was closed goes on in the same run."""
    writer = EventFileWriter(tmp_path / "runs" / "run")
    for step in range(30):
        if step % 10 == 0:
            writer.close()  # the next event begins a new file
        writer.add_scalar("loss", step, step, 1.5e9)
    writer.close()

    def finished(runs):
        return [len(points) for tags in runs.values() for points in tags.values()] == [30]

    points = {"run": {"loss": [(step, 1.5e9, float(step)) for step in range(30)]}}
    assert by_accumulator(tmp_path / "runs") == by_server(tmp_path / "runs", finished) == points
