"""The files that the page consists of: a script for TensorBoard, one that starts without it, and the styles."""

from __future__ import annotations

from functools import cache

from summaries.auditing.report import modules

__all__ = ["PAGE", "STYLES", "asset"]

PAGE = "../../../integrations/tensorboard/page/"
"""Where our own modules are from those of the audit's page."""

STYLES = ("uplot/uPlot.min.css", "page.css", f"{PAGE}plugin.css", f"{PAGE}table.css")
"""Later ones win."""


@cache
def asset(name: str) -> tuple[str, bytes]:
    """The type and the bytes of a file; nothing else is given to anybody.

    Raises:
        LookupError: there is no such file.

    >>> asset("plugin.js")[0]
    'text/javascript; charset=utf-8'
    >>> asset("../html.py")
    Traceback (most recent call last):
        ...
    LookupError: there is no file '../html.py'
    """
    if name == "plugin.css":
        return "text/css; charset=utf-8", "".join(map(modules.asset, STYLES)).encode()
    if name in {"plugin.js", "alone.js"}:
        return "text/javascript; charset=utf-8", modules.one_module(PAGE + name).encode()
    raise LookupError(f"there is no file {name!r}")
