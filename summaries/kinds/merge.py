"""Several summaries as one. Pure (no I/O)."""

from __future__ import annotations

from collections.abc import Iterable

from summaries.wire.pb import Summary
from summaries.wire.protobuf import message_bytes

__all__ = ["merge"]


def merge(summaries: Iterable[Summary | bytes]) -> Summary:
    """One Summary with the values of all of them, in order.

    Args:
        summaries: messages, or their bytes.

    Raises:
        TypeError: an item is neither a message nor bytes.
        ValueError: bytes do not parse as a Summary, or two values have the same tag.

    >>> from summaries import scalar
    >>> [value.tag for value in merge([scalar("a", 1), scalar("b", 2)]).value]
    ['a', 'b']
    """
    if not isinstance(summaries, Iterable):
        raise TypeError(f"summaries must be an iterable of Summary messages, got {type(summaries).__name__}")
    merged = Summary()
    for summary in summaries:
        merged.MergeFromString(message_bytes(summary, Summary, "each of summaries"))
    tags = [value.tag for value in merged.value]
    repeated = sorted({tag for tag in tags if tags.count(tag) > 1}) if len(set(tags)) < len(tags) else []
    if repeated:
        raise ValueError(f"each tag may occur once in merged summaries, got duplicates of {repeated}")
    return merged
