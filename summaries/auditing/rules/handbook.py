"""The page of each rule: what it means, what to do, where its thresholds come from, and their ranges."""

from __future__ import annotations

from importlib.resources import files

from summaries.auditing.rules import RULES

__all__ = ["page"]


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
    thresholds = RULES[code].thresholds
    text = files("summaries.auditing.rules").joinpath("pages", f"{code}.md").read_text(encoding="utf-8")
    if not thresholds:
        return text
    lines = (f"{name} = {threshold.default:g}  # {threshold.wanted}\n" for name, threshold in thresholds.items())
    table = f"[tool.gradledger.audit.thresholds.{code}]\n{''.join(lines)}"
    return f"{text}\n## Thresholds\n\n```toml\n{table}```\n"
