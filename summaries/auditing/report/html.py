"""A report as one HTML file that needs no server, no network and no other file.

The page consists of files in `page/`: a template, style sheets, and modules, of which `main.js` starts the others;
`document` puts them together. Everything that comes from event files is data (`payload`).
"""

from __future__ import annotations

from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from summaries.auditing.report.document import document
from summaries.auditing.report.modules import asset
from summaries.auditing.report.packed import as_text, to_json
from summaries.auditing.report.payload import bodies, index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from summaries.auditing.reports import Report

__all__ = ["html", "rule_markup", "rule_templates"]

_STYLES = ("uplot/uPlot.min.css", "page.css")


def html(report: Report, pages: Mapping[str, str] = MappingProxyType({})) -> str:
    """Render the page.

    Args:
        report: what the audit found.
        pages: code of a rule → its page in Markdown; HTML in it is shown as text.

    Returns:
        The text of the file, to be written as UTF-8.

    Raises:
        ModuleNotFoundError: there are pages, but markdown-it-py is not installed.

    Example:
        >>> from summaries import Report, RunReport
        >>> page = html(Report((RunReport("a/</script>", files=(), findings=()),)))
        >>> page.splitlines()[0], "a/</script>" in page
        ('<!doctype html>', False)
    """
    runs = (
        f'<script type="text/plain" id="run-{number}">{as_text(body)}</script>'
        for number, body in enumerate(bodies(report))
    )
    return document(
        "audit",
        "main.js",
        _STYLES,
        licence=asset("uplot/LICENSE"),
        rules="\n".join(rule_templates(pages)),
        index=to_json(index(report)),
        runs="\n".join(runs),
    )


def rule_templates(pages: Mapping[str, str]) -> Iterable[str]:
    """The page of each rule as a template element, which a script copies when the page is opened."""
    return (f'<template id="rule-{escape(code)}">{rule_markup(text)}</template>' for code, text in pages.items())


def rule_markup(text: str) -> str:
    """The page of a rule as HTML; HTML in it is shown as text."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - large, and most reports are no pages

    markup: str = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text)
    return markup
