"""Each rule's page: what it means, what to do, where its threshold comes from."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["page"]


def page(code: str) -> str:
    """The page of the rule with this code, as Markdown.

    Raises:
        FileNotFoundError: there is none.
    """
    return files("summaries.auditing").joinpath("pages", f"{code}.md").read_text(encoding="utf-8")
