"""Files that are made to take a reader long: each generator gives about as many bytes as it is asked for."""

import struct

import numpy as np
from event_data.records import sound_header

from summaries import Event, SessionLog, Summary
from summaries.wire.records import HEADER_BYTES, frame

_VERSION = frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())


def headers_beyond_the_end(size):
    """Sound lengths, one after the other, none of whose records ends before the file does."""
    return _VERSION + b"".join(sound_header(size + i) for i in range(size // HEADER_BYTES))


def damaged_records_of_headers(size, record_bytes=60_000):
    """Damaged records whose data is nothing but sound lengths, each of which fits into its record."""
    rng = np.random.default_rng(0)
    record = bytearray()
    for room in range(record_bytes, HEADER_BYTES, -HEADER_BYTES):
        record += sound_header(int(rng.integers(room)))
    return _VERSION + b"".join((sound_header(len(record)), record, bytes(4))) * (size // record_bytes)


def damaged_between_whole(size):
    """Records, of which every second one is damaged and claims the next thousand."""
    pair = sound_header(60_000) + _scalar("loss", 1)
    return _VERSION + pair * (size // len(pair))


def tags_then_starts(size):
    """As many distinct tags as fit into half of the bytes, then nothing but session starts."""
    start = frame(Event(step=1, session_log=SessionLog(status=SessionLog.START)).SerializeToString())
    tags = [_scalar(f"{i}", 1) for i in range(size // 2 // len(_scalar("12345", 1)))]
    return b"".join((_VERSION, *tags, start * (size // 2 // len(start))))


def a_point_between_starts(size):
    """Tags and session starts in turns."""
    pairs = (
        _scalar(f"{i}", 1) + frame(Event(step=i, session_log=SessionLog(status=SessionLog.START)).SerializeToString())
        for i in range(size // 60)
    )
    return b"".join((_VERSION, *pairs))


def empty_values(size):
    """One event with nothing but values that hold nothing."""
    return _VERSION + frame(_event(b"\x0a\x00" * (size // 2)))


def tiny_images(size):
    """One event with nothing but empty images."""
    return _VERSION + frame(_event(b"\x0a\x02\x22\x00" * (size // 4)))


def tags_of_images(size):
    """One event with an empty image for each of very many tags."""
    values = (Summary.Value(tag=f"{i}", image=Summary.Image()) for i in range(size // 11))
    return _VERSION + frame(Event(wall_time=1.0, summary=Summary(value=values)).SerializeToString())


def _scalar(tag, step):
    summary = Summary(value=[Summary.Value(tag=tag, simple_value=1.0)])
    return frame(Event(wall_time=1.0, step=step, summary=summary).SerializeToString())


def _event(summary):
    length = len(summary)
    digits = []
    while length >> 7:
        digits.append(length & 0x7F | 0x80)
        length >>= 7
    return b"\x09" + struct.pack("<d", 1.0) + b"\x2a" + bytes([*digits, length]) + summary


FILES = [
    headers_beyond_the_end,
    damaged_records_of_headers,
    damaged_between_whole,
    tags_then_starts,
    a_point_between_starts,
    empty_values,
    tiny_images,
    tags_of_images,
]
