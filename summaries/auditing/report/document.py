"""A self-contained HTML file: the parts of `page/`, and a content security policy that allows only them.

Everything that comes from event files is data, which the scripts put on the page as text, never as markup. The policy
allows only the scripts and styles of `page/`, by their digests, and no requests.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from string import Template
from typing import TYPE_CHECKING

from summaries.auditing.report.modules import asset, plain_scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["document"]


def document(command: str, entry: str, styles: Sequence[str], **parts: str) -> str:
    """Fill in the page of a command: `page/frame.html`, with `page/<command>.html` in it.

    Args:
        command: the command of `gradledger` that writes the page.
        entry: name of the module in `page/` that the page starts with.
        styles: names of the style sheets.
        parts: the parts of the command's own markup, as markup.

    Returns:
        The text of the file, to be written as UTF-8.
    """
    code, looks = plain_scripts(entry), [asset(name) for name in styles]
    return Template(asset("frame.html")).substitute(
        command=command,
        body=Template(asset(f"{command}.html")).substitute(parts),
        policy=escape(_policy(code, looks)),
        styles="\n".join(f"<style>{text}</style>" for text in looks),
        scripts="\n".join(f"<script>{text}</script>" for text in code),
    )


def _policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """Allow only these scripts and styles, by their digests; no requests, and no markup created by scripts."""
    allowed = {"script-src": scripts, "style-src": styles}
    parts = ["default-src 'none'", "img-src data:", "media-src data:", "base-uri 'none'", "form-action 'none'"]
    parts += ["require-trusted-types-for 'script'", "trusted-types 'none'"]
    parts += [f"{name} {' '.join(map(_digest, texts))}" for name, texts in allowed.items()]
    return "; ".join(parts)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
