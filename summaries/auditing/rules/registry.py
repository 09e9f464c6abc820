"""Every rule, from the modules of their families."""

from summaries.auditing.rules import baseline, files, policies, ranks, wiring
from summaries.auditing.rules.gradients import clipping, histograms, norms, variables
from summaries.auditing.rules.losses import (
    chance,
    divergence,
    left_out,
    moments,
    not_decreasing,
    one_answer,
    overfitting,
    parts,
    slow,
    stalled,
    unbounded,
    underconfident,
    unstable,
    validations,
    waves,
)
from summaries.auditing.rules.optimizers import dead_rates, diagnostics, precursors, rates, updates
from summaries.auditing.rules.rule import Rule
from summaries.auditing.rules.timeline import incidents, pauses, steps

__all__ = ["BETWEEN_RANKS", "RULES"]

_MODULES = (
    files, steps, pauses, incidents, moments, not_decreasing, overfitting, stalled, divergence, chance,
    unbounded, validations, parts, slow, waves, unstable,
    one_answer, underconfident, left_out, norms,
    variables, histograms, clipping, updates, precursors, rates, dead_rates, diagnostics, policies, baseline, ranks,
    wiring,
)  # fmt: skip

RULES: dict[str, Rule] = dict(sorted(pair for module in _MODULES for pair in module.RULES.items()))
"""Every rule by its code, in the order of the codes."""

BETWEEN_RANKS = frozenset(ranks.RULES)
"""The codes of the rules that see all ranks of a job."""
