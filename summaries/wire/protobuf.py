"""Protobuf's own encoding: numbers, fields, and the bytes of any message. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError, Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "OurBytes",
    "field",
    "fields",
    "members",
    "message_bytes",
    "read_varint",
    "rewrite_field",
    "serialized",
    "varint",
]


class OurBytes(bytes):
    """The bytes of a message that this package serialized, so that the receiver need not validate them."""

    __slots__ = ()


def message_bytes(message: Any, message_type: type[Message], name: str) -> bytes:
    """The bytes of a message of this type: our own, anybody's of the same name, or bytes, which are parsed to see.

    Raises:
        TypeError: it is a message of another type, or not a message.
        ValueError: the bytes do not parse as one.
    """
    wanted = message_type.DESCRIPTOR.name
    data = serialized(message, name)
    kind = getattr(getattr(message, "DESCRIPTOR", None), "name", wanted)
    if kind != wanted:
        raise TypeError(f"{name} must be a message of type {wanted}, got one of type {kind}")
    if data is message and not isinstance(data, OurBytes):
        try:
            message_type.FromString(data)
        except DecodeError as error:
            raise ValueError(
                f"{name} must be a message of type {wanted}, got {len(data)} bytes that do not parse as one: {error}"
            ) from None
    return data


def serialized(message: Any, name: str) -> bytes:
    """The bytes of a protobuf message of any library; bytes are returned unchanged.

    Raises:
        TypeError: `message` is neither.
    """
    if isinstance(message, bytes):
        return message
    ordered = {"deterministic": True} if isinstance(message, Message) else {}  # else maps are as each process likes
    try:
        return bytes(message.SerializeToString(**ordered))
    except AttributeError:
        raise TypeError(f"{name} must be a protobuf message or its bytes, got {type(message).__name__}") from None


_VARINT, _FIXED64, _LENGTH_DELIMITED, _START_GROUP, _END_GROUP, _FIXED32 = range(6)


def fields(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """(number, start, stop) of every length-delimited field of the message data[start:stop].

    Raises:
        DecodeError: it is not a message.
    """
    for key, _, first, last in members(data, start, stop):
        if key & 7 == _LENGTH_DELIMITED:
            yield key >> 3, first, last


def members(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """(key, start, where its contents start, stop) of every field of the message data[start:stop].

    The contents of a length-delimited field start after its length, those of any other after its key.

    Raises:
        DecodeError: it is not a message.
    """
    while start < stop:
        first = start
        key, start = read_varint(data, start, stop)
        contents = start
        if key & 7 == _LENGTH_DELIMITED:
            length, contents = read_varint(data, start, stop)
            start = contents + length
        else:
            start = _skip_field(data, start, stop, key & 7)
        if start > stop:
            raise DecodeError("a field is longer than its message")
        yield key, first, contents, start


def _skip_field(data: bytes, start: int, stop: int, wire: int) -> int:
    """The end of a field that is not read. Groups, which no Event has and protobuf skips, are skipped whole."""
    depth = 0
    while True:
        if wire == _VARINT:
            _, start = read_varint(data, start, stop)
        elif wire == _FIXED64:
            start += 8
        elif wire == _FIXED32:
            start += 4
        elif wire == _LENGTH_DELIMITED:
            length, start = read_varint(data, start, stop)
            start += length
        elif wire == _START_GROUP:
            depth += 1
        elif wire == _END_GROUP and depth:
            depth -= 1
        else:
            raise DecodeError(f"wire type {wire} is not allowed in an event")
        if not depth:
            return start
        key, start = read_varint(data, start, stop)
        wire = key & 7


def read_varint(data: bytes, start: int, stop: int) -> tuple[int, int]:
    """The unsigned number whose varint starts at `start`, and the offset after it.

    Raises:
        DecodeError: there is none before `stop`.
    """
    if start < stop and data[start] < 0x80:  # noqa: PLR2004 - most are one byte
        return data[start], start + 1
    number = shift = 0
    while start < stop and shift < 70:  # noqa: PLR2004 - ten groups of seven bits
        byte = data[start]
        number |= (byte & 0x7F) << shift
        start += 1
        if byte < 0x80:  # noqa: PLR2004 - the last byte has no continuation bit
            return number, start
        shift += 7
    raise DecodeError("a varint is not terminated")


def rewrite_field(data: bytes, number: int, change: Callable[[bytes], bytes | None]) -> bytes:
    """The message with every occurrence of one length-delimited field changed, or removed where `change` gives None."""
    out = []
    for key, first, contents, stop in members(data, 0, len(data)):
        whole, old = data[first:stop], data[contents:stop]
        new = change(old) if key == number << 3 | _LENGTH_DELIMITED else old
        out.append(whole if new == old else b"" if new is None else field(key, new))
    return b"".join(out)


def field(key: int, data: bytes) -> bytes:
    """A length-delimited field; its key, which is below 128, has the field's number and this wire type."""
    return bytes([key]) + varint(len(data)) + data


def varint(number: int) -> bytes:
    """Protobuf's base-128 encoding of an int64; a negative number takes ten bytes.

    >>> varint(300).hex(), len(varint(-1))
    ('ac02', 10)
    """
    number &= 0xFFFFFFFFFFFFFFFF
    out = bytearray()
    while number >> 7:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
