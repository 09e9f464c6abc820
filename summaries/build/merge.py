"""Several summaries as one. Pure (no I/O)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.wire.pb import Summary

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["merge"]


def merge(summaries: Iterable[Summary | bytes]) -> Summary:
    """One Summary with the values of all, in their order.

    Args:
        summaries: messages, or their bytes.

    Raises:
        ValueError: two values have the same tag.

    >>> from summaries import scalar
    >>> [value.tag for value in merge([scalar("a", 1), scalar("b", 2)]).value]
    ['a', 'b']
    """
    merged = Summary()
    for summary in summaries:
        merged.MergeFromString(summary if isinstance(summary, bytes) else summary.SerializeToString())
    tags = [value.tag for value in merged.value]
    repeated = sorted({tag for tag in tags if tags.count(tag) > 1}) if len(set(tags)) < len(tags) else []
    if repeated:
        raise ValueError(f"each tag may stand once in merged summaries, got several of {repeated}")
    return merged
