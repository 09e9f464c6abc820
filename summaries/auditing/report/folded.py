"""Folding: for people, what one rule found in many tags of a run becomes one finding. Programs get every finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from summaries.auditing.findings import Finding

__all__ = ["folded"]

_MOST = 3  # findings of one rule that are shown one by one
_NAMED = 3


def folded(findings: Iterable[Finding]) -> list[Finding]:
    """Fold more than three findings of one rule, run and severity into one, which replaces the first.

    If the gradients of a stack of layers vanish, that is one event, however many variables show it.
    """
    groups: dict[tuple[str, str, int], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.run, finding.code, finding.severity), []).append(finding)
    findings = []
    for group in groups.values():
        findings += [_fold(group)] if len(group) > _MOST else group
    return findings


def _fold(group: Sequence[Finding]) -> Finding:
    first, *others = group
    names = list(dict.fromkeys(filter(None, (other.tag or str(other.evidence.get("file", "")) for other in others))))
    steps = [finding.steps for finding in group if finding.steps is not None]
    return replace(
        first,
        message=f"{first.message}; and {len(others)} more like it{_listed(names)}",
        steps=(min(low for low, _ in steps), max(high for _, high in steps)) if steps else None,
        count=sum(finding.count for finding in group),
    )


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    if len(names) > _NAMED:
        return f", in {', '.join(names[:_NAMED])} and others"
    return f", in {' and '.join(filter(None, (', '.join(names[:-1]), names[-1])))}"
