"""A scalar as a Summary (a stand-in in this worktree; the real one is on main)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.values import as_float, check_tag
from summaries.wire.pb import Summary

if TYPE_CHECKING:
    from typing import Any

__all__ = ["scalar"]


def scalar(tag: str, value: Any) -> Summary:
    """The Summary of one number."""
    check_tag(tag)
    return Summary(value=[Summary.Value(tag=tag, simple_value=as_float(value))])
