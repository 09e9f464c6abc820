"""A report as one HTML file that needs no server, no network and no other file.

The page consists of files in `page/`: a template, style sheets, and scripts, in the order of `_SCRIPTS`; `document`
puts them together. Everything that comes from event files is data (`payload`).
"""

from __future__ import annotations

from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from summaries.auditing.report.document import asset, document
from summaries.auditing.report.packed import to_json
from summaries.auditing.report.payload import blocks, index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from summaries.auditing.reports import Report

__all__ = ["html"]

_SCRIPTS = (
    "uplot/uPlot.iife.min.js",
    "elements.js",
    "numbers.js",
    "unpack.js",
    "theme.js",
    "columns.js",
    "marks.js",
    "chart.js",
    "heatmap.js",
    "findings.js",
    "run.js",
    "overview.js",
    "main.js",
)
_STYLES = ("uplot/uPlot.min.css", "page.css")
_NO_PAGES: Mapping[str, str] = MappingProxyType({})


def html(report: Report, *, baseline: str | None = None, pages: Mapping[str, str] = _NO_PAGES) -> str:
    """Render the page.

    Args:
        report: what the audit found.
        baseline: the name of the baseline that the runs were compared with, or None.
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
        f'<script type="text/plain" id="run-{number}">{text}</script>' for number, text in enumerate(blocks(report))
    )
    return document(
        "audit",
        _SCRIPTS,
        _STYLES,
        licence=asset("uplot/LICENSE"),
        rules="\n".join(_rules(pages)),
        index=to_json(index(report, baseline)),
        runs="\n".join(runs),
    )


def _rules(pages: Mapping[str, str]) -> Iterable[str]:
    """The page of each rule as a template element, which a script copies when the page is opened."""
    if not pages:
        return
    from markdown_it import MarkdownIt  # noqa: PLC0415 - large, and most reports are no pages

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    for code, text in pages.items():
        yield f'<template id="rule-{escape(code)}">{markdown.render(text)}</template>'
