"""Which numbers are equal, and the bytes from each start on."""

import numpy as np
import pytest

from summaries.wire.gather import equal, gathered


@pytest.mark.parametrize("largest", [9, 65_535, 65_536, 2**40])
def test_equal_numbers_in_their_order(largest):
    numbers = np.array([largest, 3, largest, 0, 3, largest])
    assert [indices.tolist() for indices in equal(numbers)] == [[3], [1, 4], [0, 2, 5]]


def test_all_are_equal_or_there_are_none():
    assert [indices.tolist() for indices in equal(np.array([5, 5, 5]))] == [[0, 1, 2]]
    assert list(equal(np.array([], np.int64))) == []


@pytest.mark.parametrize("size", [0, 1, 3, 8])
def test_bytes_from_the_first_to_the_last_place(size):
    buffer = bytes(range(40))
    starts = np.array([40 - size, 0, 7, 7])
    want = [buffer[start : start + size] for start in starts]
    assert [row.tobytes() for row in gathered(buffer, starts, size)] == want
