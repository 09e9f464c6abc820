"""What the pages and lists of rules say of each rule, without the rules, whose imports take many times as long.

It is in `index.json`, which is what `python -m summaries.auditing.rules.index` prints. A test fails when it is stale.
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

__all__ = ["Entry", "index", "made", "read"]

_FILE = "index.json"
_SYMPTOM = re.compile(r"^- (.*)\n", re.MULTILINE)


class Entry(NamedTuple):
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
def index() -> Mapping[str, Entry]:
    """Every rule by its code, in the order of the codes."""
    entries = json.loads(read(_FILE)).items()
    return {code: Entry(name, severity, tuple(lines), tuple(seen)) for code, (name, severity, lines, seen) in entries}


def read(name: str) -> str:
    """The text of a file that lies beside the rules."""
    data = get_data(__package__, name)
    assert data is not None
    return data.decode()


def made() -> str:
    """The text of the file, as the rules have it now."""
    from summaries.auditing.rules.registry import RULES  # noqa: PLC0415 - its import is what this module avoids

    entries = {
        code: Entry(
            rule.name,
            rule.severity.name.lower(),
            tuple(f"{name} = {one.default:g}  # {one.wanted}" for name, one in rule.thresholds.items()),
            tuple(_SYMPTOM.findall(read(f"pages/{code}.md").partition("\n## What you see\n")[2].partition("\n## ")[0])),
        )
        for code, rule in RULES.items()
    }
    return json.dumps(entries, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(made())
