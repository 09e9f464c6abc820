"""A report → one HTML file: no server, no network, nothing beside it.

The page is `page/`: a template, a style sheet, and scripts that share one scope, in the order of `_SCRIPTS`. Whatever
came out of event files is data (`payload`) that these scripts put on the page as text, never as markup; and a content
security policy lets the browser run the scripts of `page/` only, by their digests, and ask nobody for anything.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from string import Template
from types import MappingProxyType
from typing import TYPE_CHECKING

from summaries.auditing.report.packed import to_json
from summaries.auditing.report.payload import blocks, index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from summaries.auditing.findings import Report

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
    """The page.

    Args:
        report: what the audit found.
        baseline: the name of the run that the others were compared with, if one was.
        pages: a rule's code → its page, in Markdown; HTML in it is shown as text.

    Returns:
        The file's text, to be written as UTF-8.

    Raises:
        ModuleNotFoundError: there are pages, and the extra `audit` is not installed.

    Example:
        >>> from summaries.auditing.findings import Report, RunReport
        >>> page = html(Report((RunReport("a/</script>", files=(), findings=()),)))
        >>> page.splitlines()[0], "a/</script>" in page
        ('<!doctype html>', False)
    """
    scripts = [_asset(name) for name in _SCRIPTS]
    styles = [_asset(name) for name in _STYLES]
    runs = (
        f'<script type="text/plain" id="run-{number}">{text}</script>' for number, text in enumerate(blocks(report))
    )
    return Template(_asset("page.html")).substitute(
        policy=escape(_policy(scripts, styles)),
        styles="\n".join(f"<style>{text}</style>" for text in styles),
        scripts="\n".join(f"<script>{text}</script>" for text in scripts),
        licence=_asset("uplot/LICENSE"),
        rules="\n".join(_rules(pages)),
        index=to_json(index(report, baseline)),
        runs="\n".join(runs),
    )


def _policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """Only these scripts and styles, by their digests; no request to anywhere; no markup made by a script."""
    allowed = {"script-src": scripts, "style-src": styles}
    parts = ["default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"]
    parts += ["require-trusted-types-for 'script'", "trusted-types 'none'"]
    parts += [f"{name} {' '.join(map(_digest, texts))}" for name, texts in allowed.items()]
    return "; ".join(parts)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _rules(pages: Mapping[str, str]) -> Iterable[str]:
    """Each rule's page as a template, which the script copies when it is asked for."""
    if not pages:
        return
    try:
        from markdown_it import MarkdownIt  # noqa: PLC0415 - an extra, imported where it is used
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("the pages of rules need markdown-it-py: pip install 'gradledger[audit]'") from error
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    for code, text in pages.items():
        yield f'<template id="rule-{escape(code)}">{markdown.render(text)}</template>'


def _asset(name: str) -> str:
    """The text of a file in `page/`, its lines ended as the digests expect: as an HTML parser reads them."""
    return files(__package__).joinpath("page", *name.split("/")).read_text(encoding="utf-8")
