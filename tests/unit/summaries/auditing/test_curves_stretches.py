"""Curves: the shares of stretches. What holds of any series is in tests/properties."""

import numpy as np
import pytest

from summaries.auditing.curves import means


@pytest.mark.parametrize(
    ("count", "width"), [(1, 20), (19, 20), (20, 20), (21, 20), (4000, 20), (4001, 21), (100_000, 500)]
)
def test_means(count, width):
    value = (np.arange(count) % 3 == 0).astype(float)
    last, share = means(value)
    parts = [value[start : start + width] for start in range(0, count, width)]
    assert share.tolist() == pytest.approx([part.mean() for part in parts])
    assert last.tolist() == [min(start + width, count) - 1 for start in range(0, count, width)]
    assert len(last) <= 200


def test_means_of_nothing_and_of_nan():
    last, share = means(np.empty(0))
    assert (len(last), len(share)) == (0, 0)
    last, share = means(np.append(np.ones(20), [np.nan, np.inf]))
    assert share[0] == 1
    assert np.isnan(share[1])
