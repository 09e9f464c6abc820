"""Sound headers are found wherever they stand, and nowhere else."""

import numpy as np
import pytest
from event_data.records import sound_header

from summaries.wire import resync
from summaries.wire.records import frame
from summaries.wire.resync import Claim, Headers, is_zero

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


def test_the_first_claim_that_may_be_whole():
    """Damaged claims are passed over; one that reaches beyond the buffer is open until the buffer has all of it."""
    damaged = frame(b"one")[:-1] + b"?"
    late = frame(b"x" * 50)
    data = b"!" + damaged + late + frame(b"two")
    start = 1 + len(damaged)
    headers = Headers(LIMIT)
    for have in range(start + 12, start + len(late)):
        assert headers.first_open(data[:have], 0, 0, have) == Claim(start, start + len(late))
    broken = data[: start + 20] + b"?" + data[start + 21 :]
    two = start + len(late)
    assert headers.first_open(broken, 0, 0, len(broken)) == Claim(two, len(data))
    assert headers.first_open(broken, 0, 0, two) is None
    assert headers.first_open(broken, 0, two + 1, len(broken)) is None


def test_offsets_are_those_in_the_stream():
    data = b"??" + frame(b"one") + b"??" + frame(b"two")
    headers = Headers(LIMIT)
    assert headers.first_open(data, 1000, 1000, 2000) == Claim(1002, 1021)
    assert headers.first_open(data[20:], 1020, 1021, 2000) == Claim(1023, 1042)
    assert headers.first(data[20:], 1020, 1021, 2000) == 1023


@pytest.mark.parametrize("piece", [7, 1000, BLOCK])
def test_claims_are_found_however_the_buffer_grows_and_shrinks(piece):
    """Asked in order, with a buffer that loses bytes at its start and gains some at its end, as a parser's does."""
    rng = np.random.default_rng(2)
    parts = [rng.bytes(5), frame(b"a" * 20), sound_header(40), frame(b""), sound_header(3), bytes(30)] * 30
    data = b"".join(parts)
    want = [at for at in range(len(data)) if any(data.startswith(f, at) for f in (frame(b"a" * 20), frame(b"")))]
    headers, found, start = Headers(LIMIT), [], 0
    for end in [*range(piece, len(data), piece), len(data)]:
        base = max(0, start - 3)
        while (claim := headers.first_open(data[base:end], base, start, len(data))) is not None and claim.stop <= end:
            found.append(claim.start)
            start = claim.start + 1
    assert found == want


def test_each_block_is_searched_once_and_each_claim_is_checked_once(monkeypatch):
    searched, checked = [], []
    sound_headers, of = resync._sound_headers, resync.SpanChecksums.of
    monkeypatch.setattr(resync, "_sound_headers", lambda b, n: searched.append(len(b)) or sound_headers(b, n))
    monkeypatch.setattr(resync.SpanChecksums, "of", lambda self, b, s, e: checked.append(len(s)) or of(self, b, s, e))
    data = b"".join(sound_header(i % 500) for i in range(10_000))
    headers = Headers(LIMIT)
    for start in range(0, len(data), 7):
        (headers.first if start % 2 else headers.first_open)(data, 0, start, start + 7)
    assert sum(searched) <= len(data) + 12 * len(searched)
    assert sum(checked) <= 10_000
