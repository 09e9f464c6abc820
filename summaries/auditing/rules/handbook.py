"""The page of each rule: what it means, what to do, where its thresholds come from, and their ranges."""

from __future__ import annotations

from summaries.auditing.rules.index import index, read

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
    thresholds = index()[code].thresholds
    text = read(f"pages/{code}.md")
    if not thresholds:
        return text
    table = "\n".join((f"[tool.gradledger.audit.thresholds.{code}]", *thresholds))
    return f"{text}\n## Thresholds\n\n```toml\n{table}\n```\n"
