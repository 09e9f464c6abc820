"""`gradledger rule`: the page of a rule of the audit, or the rules that look for what somebody sees."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from summaries.auditing.names import check_name
from summaries.auditing.rules.handbook import about, index, page
from summaries.cli.arguments.options import new_command

if TYPE_CHECKING:
    from collections.abc import Iterable


@new_command(
    section="Audit",
    summary="Explain a rule of the audit.",
    help="Explain a rule of the audit: what it looks for, why it matters, what to do. WHAT is its code or name; the "
    "beginning of codes, such as GL3, lists theirs; other words are what you see, and list the rules that look for it. "
    "Without WHAT, list all rules.",
    examples=["gradledger rule GL404", "gradledger rule loss nan"],
    status="0 if there is such a rule, 2 if there is none.",
)
@click.argument("what", nargs=-1, metavar="[WHAT]...")
def command(what: tuple[str, ...]) -> int:
    """Print the page of a rule, or list the rules that are meant; returns 0.

    Raises:
        ConfigError: there is no rule with this code; the message suggests the closest.
        LookupError: no rule is about these words.
    """
    rules = index()
    words = " ".join(what).strip()
    named = next((code for code, rule in rules.items() if words.lower() == rule.name), words)
    if not words:
        _list(rules)
    elif len(family := [code for code in rules if code.startswith(words.upper())]) > 1:
        _list(family)
    elif re.fullmatch(r"gl\d+", named, re.IGNORECASE):
        check_name("", named.upper(), rules, "code")
        print(page(named.upper()), end="")
    else:
        rules_about = about(words)
        if not rules_about:
            raise LookupError(
                f"no rule is about {words!r}: give a code such as GL301, or what you see, such as 'loss nan'; "
                "`gradledger rule` lists all rules"
            )
        _list(rules_about)
    return 0


def _list(codes: Iterable[str]) -> None:
    for code in codes:
        print(f"{code}  {index()[code].severity:<8} {index()[code].name}")
