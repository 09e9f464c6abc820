"""What the pages and lists of rules say of each rule, without the rules, whose imports take many times as long.

It is in `index.json`, which is what `python -m summaries.auditing.rules.handbook` prints, and a test fails when it is
stale; and in `pages`: what each rule means, what to do, and where its thresholds come from.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["HandbookEntry", "about", "index", "made", "page", "read", "symptoms"]

_FILE = "index.json"
_SYMPTOM = re.compile(r"^- (.*)\n", re.MULTILINE)
_AREAS = (
    "Losses and metrics",
    "Gradients, clipping, updates",
    "Curves in TensorBoard",
    "Files",
    "Speed, and many machines",
)
_STOP_WORDS = frozenset(["a", "an", "and", "are", "do", "does", "i", "in", "is", "it", "my", "of", "our", "the"])
_LETTERS = 5  # of a word are compared, so that "exploding" finds "explodes"; docs/_static/symptoms.js does the same


class HandbookEntry(NamedTuple):
    """What there is to say of a rule.

    Attributes:
        name: its name.
        severity: the severity of its findings, in small letters.
        thresholds: a line of TOML for each.
        symptoms: what one sees, as the page lists it: where, a colon, and what; what shows it best comes first.
    """

    name: str
    severity: str
    thresholds: tuple[str, ...]
    symptoms: tuple[str, ...]


@cache
def index() -> Mapping[str, HandbookEntry]:
    """Every rule by its code, in the order of the codes."""
    entries = json.loads(read(_FILE)).items()
    return {code: HandbookEntry(name, severity, *map(tuple, lists)) for code, (name, severity, *lists) in entries}


def page(code: str) -> str:
    """The page of the rule with this code, as Markdown.

    Raises:
        KeyError: there is no such rule.

    >>> print(page("GL404").partition("## Thresholds")[2].strip())
    ```toml
    [tool.gradledger.audit.thresholds.GL404]
    fraction = 0.9  # a number from 0 to 1
    min_points = 100  # a whole number of at least 1
    min_shares = 20  # a whole number of at least 1
    ```
    """
    thresholds = index()[code].thresholds
    text = read(f"pages/{code}.md")
    if not thresholds:
        return text
    table = "\n".join((f"[tool.gradledger.audit.thresholds.{code}]", *thresholds))
    return f"{text}\n## Thresholds\n\n```toml\n{table}\n```\n"


@cache
def symptoms() -> Mapping[str, Mapping[str, list[str]]]:
    """Area → symptom → the codes of the rules whose pages list it, the likeliest first."""
    areas: dict[str, dict[str, list[str]]] = {area: {} for area in _AREAS}
    listed = ((rank, code, line) for code, rule in index().items() for rank, line in enumerate(rule.symptoms))
    for _, code, line in sorted(listed):
        area, _, symptom = line.partition(": ")
        areas[area].setdefault(symptom, []).append(code)
    return {area: dict(sorted(rows.items(), key=lambda row: row[1])) for area, rows in areas.items()}


def about(words: str) -> list[str]:
    """The codes of the rules whose name, or one of whose symptoms, has all of these words; the likeliest first.

    >>> about("loss spike")
    ['GL302', 'GL505']
    >>> about("exploding gradients")
    ['GL402', 'GL404', 'GL501']
    """
    beginnings = [word[:_LETTERS] for word in re.findall(r"\w+", words.lower()) if word not in _STOP_WORDS]
    if not beginnings:
        return []
    texts = [(symptom, codes) for rows in symptoms().values() for symptom, codes in rows.items()]
    texts += [(rule.name, [code]) for code, rule in index().items()]
    matching = [codes for text, codes in texts if all(beginning in text.lower() for beginning in beginnings)]
    return list(dict.fromkeys(code for codes in matching for code in codes))


def read(name: str) -> str:
    """The text of a file that lies beside the rules."""
    data = get_data(__package__, name)
    assert data is not None
    return data.decode()


def made() -> str:
    """The text of `index.json`, as the rules have it now."""
    from summaries.auditing.rules.registry import RULES  # noqa: PLC0415 - its import is what this module avoids

    entries = {
        code: HandbookEntry(
            rule.name,
            rule.severity.name.lower(),
            tuple(f"{name} = {limit.default:g}  # {limit.wanted}" for name, limit in rule.thresholds.items()),
            tuple(_SYMPTOM.findall(read(f"pages/{code}.md").partition("\n## What you see\n")[2].partition("\n## ")[0])),
        )
        for code, rule in RULES.items()
    }
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(made())
