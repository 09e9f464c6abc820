"""`gradledger rule`: the page of a rule of the audit, or the list of all rules."""

from __future__ import annotations

import click

from summaries.auditing.config import checked_code
from summaries.auditing.rules import RULES, handbook
from summaries.cli.options import examples

__all__ = ["command"]


@click.command(
    help="Explain a rule of the audit: what it looks for, why it matters, what to do. Without CODE, list all rules.",
    epilog=examples("gradledger rule GL404"),
)
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Print the page of a rule, or the list of all rules; returns 0.

    Raises:
        ConfigError: there is no such rule; the message suggests the closest code.
    """
    if code is None:
        for known in RULES.values():
            print(f"{known.code}  {known.severity.name.lower():<8} {known.name}")
        return 0
    print(handbook.page(checked_code(code)), end="")
    return 0
