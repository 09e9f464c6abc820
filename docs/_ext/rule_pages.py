"""A page for each rule of the audit, from `gradledger rule`; and the tables of all rules and of all commands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util.docutils import SphinxDirective

from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import page, symptoms
from summaries.cli.program import commands_by_section

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

__all__ = ["linked", "setup"]

_FAMILIES = {
    "GL1": "Files",
    "GL2": "The time line",
    "GL3": "Losses and metrics",
    "GL4": "Gradients and clipping",
    "GL5": "Updates, slots, learning rate, policies",
    "GL6": "Against a baseline, and between the ranks of a job",
    "GL7": "The training loop itself, as its steps show it",
}
_BLOCK = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_BESIDE_README = re.compile(r"\]\((?:\.\./)+(CHANGELOG|CONTRIBUTING|SECURITY)\.md")
_CODE = re.compile(r"(?<![\w#/\[])(?<!# )(GL\d{3})\b")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("builder-inited", _write_pages)
    app.connect("source-read", _link)
    app.add_directive("rules", _RulesTable)
    app.add_directive("symptoms", _Symptoms)
    app.add_directive("commands", _CommandsTable)
    return {"parallel_read_safe": True}


def linked(text: str) -> str:
    r"""A page, with a link at every code of a rule in its prose, but for the title's.

    >>> linked("# GL301: x\n\nAs GL302.\n\n```toml\nGL303\n```\n")
    '# GL301: x\n\nAs [GL302](GL302.md).\n\n```toml\nGL303\n```\n'
    """
    parts = _BLOCK.split(text)
    parts[::2] = [_CODE.sub(r"[\1](\1.md)", part) for part in parts[::2]]
    return "".join(parts)


def _write_pages(app: Sphinx) -> None:
    """Write docs/rules/GL*.md, which are not under version control, but for those that have not changed."""
    for code in RULES:
        path = Path(app.srcdir, "rules", f"{code}.md")
        text = linked(page(code))
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _link(app: Sphinx, name: str, source: list[str]) -> None:
    """Links to files beside the README, which pages include, lead to these pages."""
    source[0] = _BESIDE_README.sub(lambda found: f"](/{found[1].lower()}.md", source[0])


class _Symptoms(SphinxDirective):
    """All symptoms, among which _static/symptoms.js searches."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for where, rows in symptoms().items():
            lines += ["", f"## {where}", "", "| what you see | look at |", "| --- | --- |"]
            lines += [f"| {seen} | {', '.join(codes)} |" for seen, codes in rows.items()]
        return self.parse_text_to_nodes(linked("\n".join(lines)), allow_section_headings=True)


class _RulesTable(SphinxDirective):
    """All rules by family: code, severity, name, and the first sentence of the page."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for family, title in _FAMILIES.items():
            lines += ["", f"## {title}", "", "| code | severity | name | |", "| --- | --- | --- | --- |"]
            for code, rule in RULES.items():
                if code.startswith(family):
                    what = (rule.check.__doc__ or "").partition("\n")[0]
                    cells = f"[{code}]({code}.md)", rule.severity.name.lower(), f"`{rule.name}`", what
                    lines.append(f"| {' | '.join(cells)} |")
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class _CommandsTable(SphinxDirective):
    """All commands by section: name, and what it does."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for section, commands in commands_by_section().items():
            lines += ["", f"## {section}", "", "| command | |", "| --- | --- |"]
            lines += [f"| [`gradledger {name}`]({name}.md) | {what} |" for name, what in commands.items()]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)
