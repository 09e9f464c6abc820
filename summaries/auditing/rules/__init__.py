"""The rules, by code; one module for each family."""

from summaries.auditing.rule import Rule
from summaries.auditing.rules import baseline, files, gradients, timeline, updates, values

__all__ = ["RULES"]

RULES: dict[str, Rule] = {
    **files.RULES,
    **timeline.RULES,
    **values.RULES,
    **gradients.RULES,
    **updates.RULES,
    **baseline.RULES,
}
