"""The files that the page consists of: our own modules and styles, and those that the audit's page is made of, too."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from summaries.auditing.report import modules

__all__ = ["asset", "names"]

_SHARED = "audit/"  # where the modules of the audit's page are, beside our own
_FOLDER_OF_SHARED = (
    "../../../auditing/report/page/"  # where they are from our own in the package, and so for our checks
)
_ENTRIES_OF_SHARED = ("run.js", "overview.js", "unpack.js", "axes.js")
_STYLES = ("page.css", "uplot/uPlot.min.css")
_TYPES = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}


@cache
def names() -> frozenset[str]:
    """The names of all files, below the address of the page; nothing else is given to anybody."""
    folder = files(__package__).joinpath("page")
    own = [entry.name for entry in folder.iterdir() if entry.name.endswith((".js", ".css"))]
    shared = {name for entry in _ENTRIES_OF_SHARED for name in modules.reachable(entry)}
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
        text = files(__package__).joinpath("page", name).read_text(encoding="utf-8")
        return text.replace(f'from "{_FOLDER_OF_SHARED}', f'from "./{_SHARED}')
    plain = modules.PLAIN.get(shared)
    return modules.asset(shared) + (f"\nexport {{ {plain} }};\n" if plain else "")
