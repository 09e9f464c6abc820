"""Hypothesis strategies: records, streams of records, damage, and ways to cut bytes into chunks."""

from struct import pack
from typing import NamedTuple

from hypothesis import strategies as st

from summaries.wire.crc32c import masked_crc32c
from summaries.wire.records import frame


def sound_header(length):
    """The first twelve bytes of a record that claims this many bytes of data."""
    packed = pack("<Q", length)
    return packed + pack("<I", masked_crc32c(packed))


def payloads(max_size=60):
    """A record's data; sometimes it looks like a record, or like the beginning of one."""
    plain = st.binary(max_size=max_size)
    return st.one_of(
        plain,
        plain.map(frame),
        plain.map(lambda data: frame(data)[:-1]),
        st.integers(0, 300).map(sound_header),
        st.integers(0, max_size).map(bytes),
    )


def hostile_bytes():
    """Bytes that a parser may encounter: whole and partial records, headers, zeros and noise, in any order."""
    piece = st.one_of(
        payloads().map(frame),
        payloads().map(frame).flatmap(lambda data: st.integers(0, len(data)).map(lambda cut: data[:cut])),
        payloads().map(frame).flatmap(lambda data: st.integers(0, len(data)).map(lambda cut: data[cut:])),
        st.one_of(st.integers(0, 300), st.integers(0, 2**64 - 1)).map(sound_header),
        st.integers(0, 40).map(bytes),
        st.binary(max_size=40),
    )
    return st.lists(piece, max_size=8).map(b"".join)


@st.composite
def chunked(draw, data):
    """`data`, cut into chunks anywhere; some may be empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=12)))
    return [data[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True)]


class Damaged(NamedTuple):
    """A stream of records after one edit, and the records that the edit did not touch: (new offset, data)."""

    data: bytes
    survivors: list[tuple[int, bytes]]


@st.composite
def damaged_streams(draw):
    """A stream of records in which one range was flipped, deleted, zeroed, doubled, or replaced."""
    datas = draw(st.lists(payloads(), min_size=1, max_size=8))
    frames = [frame(data) for data in datas]
    stream = b"".join(frames)
    start, stop = sorted(draw(st.tuples(*[st.integers(0, len(stream))] * 2)))
    hit = stream[start:stop]
    edited = draw(
        st.one_of(
            st.just(bytes(byte ^ 0xFF for byte in hit)),
            st.just(b""),
            st.just(bytes(len(hit))),
            st.just(hit + hit),
            st.binary(max_size=60),
        )
    )
    survivors = []
    offset = 0
    for data, framed in zip(datas, frames, strict=True):
        if offset + len(framed) <= start:
            survivors.append((offset, data))
        elif offset >= stop:
            survivors.append((offset + len(edited) - len(hit), data))
        offset += len(framed)
    return Damaged(stream[:start] + edited + stream[stop:], survivors)


def tags(max_size=12):
    """A scalar's tag."""
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=max_size)


def steps():
    """A step: any int64, often a small one."""
    return st.one_of(st.integers(0, 300), st.integers(-(2**63), 2**63 - 1))
