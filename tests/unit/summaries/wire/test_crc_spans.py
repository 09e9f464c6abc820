"""Checksums of spans follow from those of prefixes, wherever the spans lie, and each byte is read once."""

import numpy as np
import pytest

from summaries.wire import crc_spans
from summaries.wire.crc32c import crc32c
from summaries.wire.crc_spans import SpanChecksums, shifted

STEP = 512  # prefixes are kept at multiples of this


def spans(*pairs):
    starts, stops = np.array(pairs, np.int64).reshape(-1, 2).T
    return starts, stops


def test_any_spans():
    rng = np.random.default_rng(0)
    data = rng.bytes(5 * STEP + 7)
    edges = [0, 1, STEP - 1, STEP, STEP + 1, 3 * STEP, 5 * STEP, len(data)]
    pairs = [(a, b) for a in edges for b in edges if a <= b]
    pairs += [tuple(sorted(pair)) for pair in rng.integers(len(data), size=(200, 2)).tolist()]
    assert SpanChecksums().of(data, *spans(*pairs)).tolist() == [crc32c(data[a:b]) for a, b in pairs]


def test_a_buffer_that_grows():
    data = np.random.default_rng(1).bytes(4 * STEP)
    checksums = SpanChecksums()
    for stop in (10, STEP, STEP + 1, 3 * STEP - 1, 4 * STEP):
        assert checksums.of(data[:stop], *spans((3, stop))).tolist() == [crc32c(data[3:stop])]


def test_no_spans():
    assert SpanChecksums().of(b"abc", *spans()).tolist() == []


@pytest.mark.parametrize("length", [0, 1, 255, 256, 65537])
def test_shifted(length):
    first, second = b"first", bytes(i % 251 for i in range(length))
    crc = np.array([crc32c(first)], np.uint32)
    assert int(shifted(crc, np.array([length]))[0]) ^ crc32c(second) == crc32c(first + second)


def test_shifting_by_more_bytes_than_there_are_is_shifting_twice():
    crc = np.array([crc32c(b"?")], np.uint32)
    once = shifted(crc, np.array([2**31 + 12345]))
    assert shifted(shifted(crc, np.array([2**31])), np.array([12345])).tolist() == once.tolist()


def test_each_byte_is_read_once_and_a_little_for_each_span(monkeypatch):
    read = []
    extend = crc_spans.extend
    monkeypatch.setattr(crc_spans, "extend", lambda crc, data: read.append(len(data)) or extend(crc, data))
    data = bytes(100 * STEP)
    checksums = SpanChecksums()
    for start in range(0, 1000, 100):
        checksums.of(data, *spans(*((start + i, len(data)) for i in range(100))))
    assert sum(read) <= len(data) + 1000 * 2 * STEP
