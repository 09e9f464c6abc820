"""TF1's contrib wrappers."""

import numpy as np
import pytest

import optim


def test_rows_of_a_sparse_gradient_are_clipped():
    w = optim.Variable(np.full((3, 2), 10.0), name="w")
    optimizer = optim.VariableClippingOptimizer(optim.GradientDescentOptimizer(1.0), {w: [1]}, 5.0)
    optimizer.apply_gradients([(optim.IndexedSlices(np.zeros((1, 2)), [1]), w)])
    assert np.linalg.norm(w.value, axis=1).tolist() == pytest.approx([14.142135, 5.0, 14.142135])
    whole = optim.VariableClippingOptimizer(optim.GradientDescentOptimizer(1.0), {w: [0, 1]}, 5.0)
    whole.apply_gradients([(optim.IndexedSlices(np.zeros((1, 2)), [1]), w)])
    assert np.linalg.norm(w.value) == pytest.approx(5.0)


def test_other_variables_and_skipped_steps_are_left_alone():
    w, b = (optim.Variable([10.0], name=name) for name in "wb")
    inside = optim.skip_nonfinite_steps(optim.GradientDescentOptimizer(1.0))
    optimizer = optim.VariableClippingOptimizer(inside, {w: []}, 1.0)
    optimizer.apply_gradients([(np.float32([np.nan]), w), (np.float32([0.0]), b)])
    assert (w.value[0], b.value[0]) == (10.0, 10.0)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: optim.VariableClippingOptimizer("Adam", {}, 1.0), TypeError),
        (lambda: optim.VariableClippingOptimizer(optim.AdamOptimizer(), {"w": [0]}, 1.0), TypeError),
        (lambda: optim.VariableClippingOptimizer(optim.AdamOptimizer(), {}, 0.0), ValueError),
        (lambda: optim.MovingAverageOptimizer(optim.AdamOptimizer(), 2.0), ValueError),
        (lambda: optim.MovingAverageOptimizer(None), TypeError),
        (lambda: optim.MultitaskOptimizerWrapper(None), TypeError),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_averages_are_saved_and_swapped(tmp_path):
    pytest.importorskip("safetensors")
    w = optim.Variable([0.0], name="w")
    optimizer = optim.MovingAverageOptimizer(optim.GradientDescentOptimizer(1.0), 0.5)
    with pytest.raises(RuntimeError, match="must be called before swapping_saver"):
        optimizer.swapping_saver()
    for _ in range(3):
        optimizer.apply_gradients([(np.float32([-4.0]), w)])
    average = optimizer.averages.average(w).value.copy()
    swapped = optimizer.swapping_saver().save(str(tmp_path / "swapped"))
    kept = optim.Saver([w, optimizer]).save(str(tmp_path / "kept"))
    plain = optim.Variable([0.0], name="w")
    optim.Saver({"w": plain}).restore(swapped)
    assert plain.value == average
    again = optim.MovingAverageOptimizer(optim.GradientDescentOptimizer(1.0), 0.5)
    other = optim.Variable([0.0], name="w")
    optim.Saver([other, again]).restore(kept)
    assert (other.value, again.averages.average(other).value) == (w.value, average)


def test_zero_gradients_leave_a_variable_alone(tmp_path):
    from summaries import SummaryWriter, read_run

    w, b = (optim.Variable([1.0], name=name) for name in "wb")
    optimizer = optim.MultitaskOptimizerWrapper(optim.AdamOptimizer(0.1))
    with SummaryWriter(str(tmp_path)) as writer:
        logged = optim.with_summaries(optimizer, writer)
        logged.apply_gradients([(np.float32([1.0]), w), (np.float32([1.0]), b)])
        before, m = w.value.copy(), optimizer.get_slot(w, "m").value.copy()
        report = logged.apply_gradients([(np.float32([0.0]), w), (np.float32([1.0]), b)])
        assert len(report.variables) == 1
        logged.apply_gradients([(np.float32([0.0]), w), (np.float32([0.0]), b)])
    assert (w.value, optimizer.get_slot(w, "m").value) == (before, m)
    assert len(read_run(writer.path).scalars["updates/norm/b"].value) == 2
