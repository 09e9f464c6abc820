"""The files that the page consists of: our own modules and styles, and those that the audit's page is made of, too."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from summaries.auditing.report import modules

__all__ = ["asset", "names"]

_SHARED = "audit/"  # where the modules of the audit's page are, beside our own
_ENTRY_OF_SHARED = "run.js", "overview.js"
_STYLES = ("page.css", "uplot/uPlot.min.css")
_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


@cache
def names() -> frozenset[str]:
    """The names of all files, below the address of the page; nothing else is given to anybody."""
    folder = files(__package__).joinpath("page")
    own = [entry.name for entry in folder.iterdir() if entry.name.endswith((".js", ".css"))]
    shared = {name for entry in (*_ENTRY_OF_SHARED, "unpack.js") for name in modules.reachable(entry)}
    return frozenset((*own, *(_SHARED + name for name in (*shared, *_STYLES))))


def asset(name: str) -> tuple[str, bytes]:
    """The type and the bytes of a file.

    Raises:
        LookupError: there is no such file.

    >>> asset("audit/theme.js")[0]
    'text/javascript; charset=utf-8'
    >>> asset("audit/../html.py")
    Traceback (most recent call last):
        ...
    LookupError: there is no file 'audit/../html.py'
    """
    if name not in names():
        raise LookupError(f"there is no file {name!r}")
    return _TYPES[name.rpartition(".")[2]], _text(name).encode()


@cache
def _text(name: str) -> str:
    shared = name.removeprefix(_SHARED)
    if shared == name:
        return files(__package__).joinpath("page", name).read_text(encoding="utf-8")
    plain = modules.PLAIN.get(shared)
    return modules.asset(shared) + (f"\nexport {{ {plain} }};\n" if plain else "")
