"""The rules, by code; one module for each family, and one for the learning rate's."""

from summaries.auditing.rule import Rule
from summaries.auditing.rules import baseline, files, gradients, rates, timeline, updates, values

__all__ = ["RULES"]

RULES: dict[str, Rule] = {
    **files.RULES,
    **timeline.RULES,
    **values.RULES,
    **gradients.RULES,
    **updates.RULES,
    **rates.RULES,
    **baseline.RULES,
}
