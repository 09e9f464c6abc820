"""Matrices over steps: which tags have them, and what is shown of large ones."""

import numpy as np
import pytest

from summaries import SummaryWriter, read_run
from summaries.integrations.tensorboard.matrices import (
    MOST_SIDE,
    has_matrices,
    level_range,
    matrix_at,
    matrix_tags,
    shown,
)


@pytest.fixture
def run(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(0, 50, 10):
            writer.add_tensor("confusion", np.full((3, 4), step, np.float32), step)
            writer.add_tensor("vector", np.arange(5) - step, step)
            writer.add_tensor("batch of one", np.ones((1, 2, 2)), step)
            writer.add_tensor("cube", np.ones((2, 2, 2)), step)
            writer.add_tensor("complex", np.array([[1j, 2], [3, 4]]), step)
            writer.add_tensor("nothing", np.empty((0, 3)), step)
            writer.add_scalar("loss", 1.0, step)
    return read_run(tmp_path)


def test_tags(run):
    steps = [0, 10, 20, 30, 40]
    assert has_matrices(run)
    assert matrix_tags(run) == [
        {"tag": "confusion", "shape": [3, 4], "steps": steps},
        {"tag": "vector", "shape": [5, 1], "steps": steps},
        {"tag": "batch of one", "shape": [2, 2], "steps": steps},
    ]


def test_tensors_that_are_no_matrices(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_custom_scalars({"a": {"b": ["Multiline", ["loss"]]}})
        writer.add_tensor("cube", np.ones((2, 2, 2)), 0)
    run = read_run(tmp_path)
    assert run.tensors
    assert (has_matrices(run), matrix_tags(run)) == (False, [])


def test_values(run):
    step, matrix = matrix_at(run, "confusion", 2)
    assert (step, matrix.tolist()) == (20, [[20.0] * 4] * 3)
    assert matrix_at(run, "vector", 1)[1].ravel().tolist() == [-10, -9, -8, -7, -6]
    assert level_range(run, "confusion") == (0, 40)
    assert level_range(run, "nothing") == (0, 0)


@pytest.mark.parametrize(("tag", "index"), [("confusion", 5), ("confusion", -1), ("loss", 0), ("x", 0)])
def test_what_is_not_there(run, tag, index):
    with pytest.raises(LookupError) as raised:
        matrix_at(run, tag, index)
    assert raised.value.args[0] == f"there is no matrix {index} of tag {tag!r}"


def test_what_is_no_matrix(run):
    with pytest.raises(ValueError, match=r"^value 0 of tag 'complex' must be a matrix of numbers$"):
        matrix_at(run, "complex", 0)


def test_large_ones_are_means_of_blocks():
    matrix = np.random.default_rng(0).random((1000, 3))
    small = shown(matrix)
    assert small.shape == (MOST_SIDE, 3)
    assert np.allclose(small[0], matrix[:1].mean(axis=0))
    assert np.allclose(small[1], matrix[1:3].mean(axis=0))
    assert shown(matrix[:MOST_SIDE]) is not None
    assert np.array_equal(shown(matrix[:10]), matrix[:10])
