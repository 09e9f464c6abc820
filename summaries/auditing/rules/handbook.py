"""What the pages and lists of rules say of each rule, without the rules, whose imports take many times as long.

It is in `index.json`, which is what `python -m summaries.auditing.rules.handbook` prints, and a test fails when it is
stale; and in `pages`: what each rule means, what to do, and where its thresholds come from.
"""

from __future__ import annotations

import json
import math
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
# docs/_static/symptoms.js does the same with the same words and endings; a test compares them.
_SMALL = """
    a after all am an and anything are at be becomes been between but by can data did do does doesn don even ever for
    from get gets getting go goes going got had has have how i in is isn it its just keep keeps model my network
    no not of on or our so some suddenly t that the there this to too very was we what when while why will with
    won
"""
_SMALL_WORDS = frozenset(_SMALL.split())
_ENDING = re.compile(r"(?<=\w{3})(?:ings?|ed|es|er|ly|s|e)$")
_ENOUGH = 0.5  # of what the words weigh: one that nobody knows beside one that all know finds nothing


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
    """The codes of the rules whose name, or one of whose symptoms, has most of these words; the likeliest first.

    A word counts the more, the fewer symptoms have it. Endings do not count, nor do small words.

    >>> about("why did my loss spike")
    ['GL302', 'GL505', 'GL508', 'GL510']
    >>> about("exploding gradients")
    ['GL402', 'GL712', 'GL404', 'GL501']
    """
    texts = [(symptom, codes) for rows in symptoms().values() for symptom, codes in rows.items()]
    texts += [(rule.name, [code]) for code, rule in index().items()]
    beginnings = {_beginning(word) for word in _words(words) if word not in _SMALL_WORDS and not word.isdigit()}
    having = {begins: {i for i, (text, _) in enumerate(texts) if _has(text, begins)} for begins in beginnings}
    weights = {begins: math.log1p(len(texts) / len(rows)) for begins, rows in having.items() if rows}
    unknown = math.log1p(len(texts)) / 2 * (len(beginnings) - len(weights))
    scores = [sum(weight for begins, weight in weights.items() if i in having[begins]) for i in range(len(texts))]
    best = max(scores)
    if not best or best < _ENOUGH * (sum(weights.values()) + unknown):
        return []
    likeliest = [codes for score, (_, codes) in zip(scores, texts, strict=True) if math.isclose(score, best)]
    return list(dict.fromkeys(code for codes in likeliest for code in codes))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _beginning(word: str) -> str:
    """A word without its ending, so that "exploding" finds "explodes", and "overfitting" does not find "overflows".

    >>> _beginning("overfitting"), _beginning("losses"), _beginning("loss")
    ('overfit', 'los', 'los')
    """
    short = _ENDING.sub("", word)
    return short[:-1] if len(short) > 3 and short[-1] == short[-2] else short  # noqa: PLR2004 - "off" and "inf" stay


def _has(text: str, beginning: str) -> bool:
    return any(word.startswith(beginning) for word in _words(text))


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
