"""A Clip is all that a step does to its gradients first."""

import math

import numpy as np
import pytest

from optim.kernels.scale_and_bounds import AS_IT_IS, Clip


def test_what_is_done_one_after_the_other():
    clip = AS_IT_IS.scaled(0.5).kept_within(-1.0, 1.0).scaled(4.0)
    assert clip == Clip(2.0, -4.0, 4.0)
    assert clip.kept_within(0.0, 3.0) == Clip(2.0, 0.0, 3.0)
    assert AS_IT_IS.scaled(1.0) is AS_IT_IS


def test_only_scales():
    assert Clip(0.5).only_scales
    assert not Clip(0.5, high=1.0).only_scales
    assert not Clip(0.5, low=-1.0).only_scales


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_clipped_copy(dtype):
    array = np.array([-3.0, 0.5, math.nan, math.inf], dtype)
    clipped = Clip(0.5, -1.0, 1.0).applied(array)
    assert clipped.dtype == dtype
    np.testing.assert_array_equal(clipped, np.array([-1.0, 0.25, math.nan, 1.0], dtype))
    assert array[0] == -3.0
