"""Schedule-free: x is the average of z, and the two modes."""

import numpy as np
import pytest

import optim

GRADIENTS = np.random.default_rng(0).normal(size=(7, 3))


def stepped(optimizer, steps=GRADIENTS):
    w = optim.Variable(np.ones(3), name="w", dtype=np.float64)
    points = []
    for g in steps:
        optimizer.apply_gradients([(g, w)])
        points.append(optimizer.get_slot(w, "z").value.copy())
    return w, np.array(points)


def test_x_is_the_mean_of_z():
    optimizer = optim.ScheduleFreeSGD(0.1)
    w, points = stepped(optimizer)
    y = w.value.copy()
    optimizer.eval()
    np.testing.assert_allclose(w.value, points.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(y, 0.9 * w.value + 0.1 * points[-1], rtol=1e-12)


def test_the_modes_are_each_others_inverse():
    optimizer = optim.ScheduleFreeAdamW(0.1)
    optimizer.train()
    optimizer.eval()  # before the first step nothing is averaged
    w, _ = stepped(optimizer)
    y = w.value.copy()
    optimizer.eval()
    optimizer.eval()
    x = w.value.copy()
    optimizer.train()
    np.testing.assert_allclose(w.value, y, rtol=1e-12)
    assert (x != y).all()


def test_a_step_needs_the_mode_for_training():
    optimizer = optim.ScheduleFreeSGD(0.1)
    w, _ = stepped(optimizer)
    optimizer.eval()
    with pytest.raises(ValueError, match=r"ScheduleFreeSGD is in the mode for evaluation: call train\(\) before"):
        optimizer.apply_gradients([(GRADIENTS[0], w)])


def test_the_mode_is_saved(tmp_path):
    pytest.importorskip("safetensors")
    optimizer = optim.ScheduleFreeSGD(0.1)
    w, _ = stepped(optimizer)
    y = w.value.copy()
    optimizer.eval()
    path = optim.Saver([w, optimizer]).save(str(tmp_path / "model"))
    again, other = optim.ScheduleFreeSGD(0.1), optim.Variable(np.zeros(3), name="w", dtype=np.float64)
    optim.Saver([other, again]).restore(path)
    again.train()
    np.testing.assert_allclose(other.value, y, rtol=1e-12)
