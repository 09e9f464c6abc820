"""Every rule, from the modules of their families."""

from summaries.auditing.rules import (
    baseline,
    clipping,
    concealed,
    divergence,
    files,
    gradients,
    histograms,
    incidents,
    losses,
    not_decreasing,
    overfitting,
    pauses,
    policies,
    precursors,
    ranks,
    rates,
    stalled,
    timeline,
    updates,
    variables,
)
from summaries.auditing.rules.rule import Rule

__all__ = ["BETWEEN_RANKS", "RULES"]

_MODULES = (
    files, timeline, pauses, losses, not_decreasing, overfitting, concealed, stalled, divergence, gradients, variables,
    histograms, clipping, updates, precursors, policies, rates, baseline, ranks, incidents,
)  # fmt: skip

RULES: dict[str, Rule] = dict(sorted(pair for module in _MODULES for pair in module.RULES.items()))
"""Every rule by its code, in the order of the codes."""

BETWEEN_RANKS = frozenset(ranks.RULES)
"""The codes of the rules that see all ranks of a job."""
