"""Search by symptom: which rules look for what somebody sees.

Words are compared by their first five letters, so that "exploding" finds "explodes"; the documentation's page of
symptoms, `docs/_static/symptoms.js`, does the same.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from summaries.auditing.rules.index import index

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["about", "symptoms"]

_WHERE = (
    "Losses and metrics",
    "Gradients, clipping, updates",
    "Curves in TensorBoard",
    "Files",
    "Speed, and many machines",
)
_SMALL = frozenset(["a", "an", "and", "are", "do", "does", "i", "in", "is", "it", "my", "of", "our", "the"])
_LETTERS = 5


@cache
def symptoms() -> Mapping[str, Mapping[str, list[str]]]:
    """Where it is seen → what is seen → the codes of the rules whose pages list it, the likeliest first."""
    found: dict[str, dict[str, list[str]]] = {where: {} for where in _WHERE}
    listed = ((at, code, line) for code, rule in index().items() for at, line in enumerate(rule.symptoms))
    for _, code, line in sorted(listed):
        where, _, seen = line.partition(": ")
        found[where].setdefault(seen, []).append(code)
    return {where: dict(sorted(rows.items(), key=lambda row: row[1])) for where, rows in found.items()}


def about(words: str) -> list[str]:
    """The codes of the rules whose name, or one of whose symptoms, has all of these words; the likeliest first.

    >>> about("loss spike")
    ['GL302', 'GL505']
    >>> about("exploding gradients")
    ['GL402', 'GL404', 'GL501']
    """
    wanted = [word[:_LETTERS] for word in re.findall(r"\w+", words.lower()) if word not in _SMALL]
    if not wanted:
        return []
    entries = [(seen, codes) for rows in symptoms().values() for seen, codes in rows.items()]
    entries += [(rule.name, [code]) for code, rule in index().items()]
    matching = [codes for text, codes in entries if all(word in text.lower() for word in wanted)]
    return list(dict.fromkeys(code for codes in matching for code in codes))
