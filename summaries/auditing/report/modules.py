"""The scripts of the pages: ES modules, which a server gives as they are, and a self-contained file as plain scripts.

A module imports by name only, `import { a, b } from "./other.js";`, and renames nothing. So it becomes a function that
is called at once: it takes those names from the modules before it, and returns what it exports. Comments that have
lines of their own, most of which are types for our checks, are left out of the file: they would be a third of it.

Names of files are relative to `page/` beside this module; those of TensorBoard's tab begin with `../`.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

__all__ = ["PLAIN", "asset", "plain_scripts", "reachable"]

PLAIN = {"uplot/uPlot.iife.min.js": "uPlot"}
"""Scripts that are no modules, and the name that each defines."""

_FOLDER = "/auditing/report/page"  # in the package
_IMPORT = re.compile(r'^import (\{[\w,\s]+\}) from "(\.\.?/[\w./]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) (\w+))", re.MULTILINE)


def asset(name: str) -> str:
    """The text of a file in `page/`, with the line ends of an HTML parser, on which digests depend."""
    return files(__package__).joinpath("page", *name.split("/")).read_text(encoding="utf-8")


def reachable(entry: str) -> list[str]:
    """The names of a module and of all that it imports, each after those that it imports itself.

    >>> reachable("marks.js")
    ['elements.js', 'theme.js', 'uplot/uPlot.iife.min.js', 'marks.js']
    """
    names = [name for imported in _imports(entry) for name in reachable(imported)]
    return list(dict.fromkeys([*names, entry]))


def plain_scripts(entry: str) -> list[str]:
    """The texts of these modules as scripts, in the order in which they run."""
    return [_plain(name, is_entry=name == entry) for name in reachable(entry)]


@cache
def _imports(name: str) -> list[str]:
    return [] if name in PLAIN else [_seen_from(name, path) for _, path in _IMPORT.findall(asset(name))]


def _seen_from(name: str, path: str) -> str:
    """The name of the file that a module calls by this path."""
    absolute = posixpath.join(_FOLDER, posixpath.dirname(name), path)
    return posixpath.relpath(posixpath.normpath(absolute), _FOLDER)


def _plain(name: str, *, is_entry: bool) -> str:
    if name in PLAIN:
        return asset(name)
    text = asset(name)
    taken = [
        f"const {names} = {_object(module)};\n"
        for names, path in _IMPORT.findall(text)
        if (module := _seen_from(name, path)) not in PLAIN
    ]
    code = _EXPORT.sub("", _COMMENT.sub("", _IMPORT.sub("", text))).replace("import.meta.url", "document.baseURI")
    if is_entry:  # nobody takes anything from it
        return f'"use strict";\n{"".join(taken)}{code}'
    given = ", ".join(_EXPORT.findall(text))
    return f'"use strict";\nconst {_object(name)} = (() => {{\n{"".join(taken)}{code}return {{ {given} }};\n}})();\n'


def _object(name: str) -> str:
    """What holds the exports of a module."""
    return "$" + re.sub(r"\W", "_", name.removeprefix("../../../").removesuffix(".js"))
