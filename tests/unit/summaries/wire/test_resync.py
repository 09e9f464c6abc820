"""Sound headers are found wherever they stand, and nowhere else."""

import numpy as np
import pytest
from strategies import sound_header

from summaries.wire.records import frame
from summaries.wire.resync import Headers, is_zero

LIMIT = 2**31 - 1
BLOCK = 1 << 15  # where the search goes on to its next block


def find_header(data, start, stop, limit):
    return Headers(limit).first(data, 0, start, stop)


def noise(count):
    return np.random.default_rng(0).bytes(count)


@pytest.mark.parametrize("length", [0, 1, 24, 255, 256, 65535, 65536, 2**24, LIMIT])
def test_a_header_of_any_length_is_found(length):
    assert find_header(b"noise" + sound_header(length) + b"noise", 0, 100, LIMIT) == 5


@pytest.mark.parametrize("at", [0, 1, BLOCK - 12, BLOCK - 11, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK - 6])
@pytest.mark.parametrize("around", [noise, bytes], ids=["in noise", "in zeros"])
def test_a_header_is_found_at_any_place(at, around):
    data = around(at) + sound_header(24) + around(BLOCK)
    assert find_header(data, 0, len(data), LIMIT) == at


def test_the_first_of_several_is_found_and_then_the_next():
    data = b"!!" + frame(b"a") + frame(b"b")
    assert find_header(data, 0, len(data), LIMIT) == 2
    assert find_header(data, 3, len(data), LIMIT) == 2 + len(frame(b"a"))


# (data, start, stop): no header is found.
NOWHERE = {
    "nothing": (b"", 0, 0),
    "too short": (sound_header(24)[:11], 0, 11),
    "zeros": (bytes(2 * BLOCK), 0, 2 * BLOCK),
    "noise": (noise(2 * BLOCK), 0, 2 * BLOCK),
    "in front of the start": (sound_header(24) + bytes(8), 1, 20),
    "behind the stop": (b"!!!!" + sound_header(24), 0, 4),
    "one bit off": (bytes([sound_header(24)[0] ^ 1]) + sound_header(24)[1:], 0, 12),
    "longer than the limit": (sound_header(LIMIT + 1), 0, 12),
    "of 2**32 and more": (sound_header(2**32 + 24), 0, 12),
}


@pytest.mark.parametrize(("data", "start", "stop"), NOWHERE.values(), ids=NOWHERE)
def test_nowhere(data, start, stop):
    assert find_header(data, start, stop, LIMIT) == -1


def test_a_header_may_reach_beyond_the_stop():
    assert find_header(b"!!!!" + sound_header(24), 0, 5, LIMIT) == 4


@pytest.mark.parametrize(
    ("data", "start", "stop", "expected"),
    [
        (bytes(5), 0, 5, True),
        (b"", 0, 0, True),
        (b"\1" + bytes(3) + b"\1", 1, 4, True),
        (b"\1" + bytes(3) + b"\1", 0, 4, False),
        (b"\1" + bytes(3) + b"\1", 1, 5, False),
    ],
)
def test_is_zero(data, start, stop, expected):
    assert is_zero(data, start, stop) is expected
