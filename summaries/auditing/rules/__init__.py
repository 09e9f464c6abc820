"""The rules, by code; in modules by what they look at."""

from summaries.auditing.rules import (
    baseline,
    clipping,
    files,
    gradients,
    losses,
    rates,
    timeline,
    updates,
    variables,
)
from summaries.auditing.rules.rule import Rule

__all__ = ["RULES"]

_MODULES = (files, timeline, losses, gradients, variables, clipping, updates, rates, baseline)

RULES: dict[str, Rule] = dict(sorted(pair for module in _MODULES for pair in module.RULES.items()))
"""Every rule, by its code and in the codes' order."""
