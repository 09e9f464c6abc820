"""The scripts of the pages: ES modules, which a server gives as one module, and a self-contained file as plain scripts.

A module imports by name only, `import { a, b } from "./other.js";`, and renames nothing. So it becomes a function that
is called at once: it takes those names from the modules before it, and returns what it exports. Comments that have
lines of their own, most of which are types for our checks, are left out: they would be a third of all.

One module, since a browser learns what a module imports only when it has it: fifty of them, level by level, took 0.3
seconds of each opening.

Names of files are relative to `page/` beside this module; those of TensorBoard's tab begin with `../`.
"""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib.resources import files

__all__ = ["asset", "one_module", "plain_scripts", "reachable"]

_PLAIN = ("uplot/uPlot.iife.min.js",)  # no modules: they define names for all that follow
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
    """The texts of a module and of those that it needs as scripts, in the order in which they run."""
    texts = [_plain(name) if name == entry else _enclosed(name) for name in reachable(entry)]
    return [text.replace("import.meta.url", "document.baseURI") for text in texts]


def one_module(entry: str) -> str:
    """The text of a module with those that it needs in it; it exports what it exports."""
    given = ", ".join(_EXPORT.findall(asset(entry)))
    return "".join(map(_enclosed, reachable(entry))) + f"export const {{ {given} }} = {_object(entry)};\n"


@cache
def _imports(name: str) -> list[str]:
    return [] if name in _PLAIN else [_seen_from(name, path) for _, path in _IMPORT.findall(asset(name))]


def _seen_from(name: str, path: str) -> str:
    """The name of the file that a module calls by this path."""
    absolute = posixpath.join(_FOLDER, posixpath.dirname(name), path)
    return posixpath.relpath(posixpath.normpath(absolute), _FOLDER)


def _plain(name: str) -> str:
    """A module as a script, which takes what it imports from those before it."""
    text = asset(name)
    taken = [
        f"const {names} = {_object(module)};\n"
        for names, path in _IMPORT.findall(text)
        if (module := _seen_from(name, path)) not in _PLAIN
    ]
    return f'"use strict";\n{"".join(taken)}{_EXPORT.sub("", _COMMENT.sub("", _IMPORT.sub("", text)))}'


def _enclosed(name: str) -> str:
    """A module as a function that is called at once."""
    if name in _PLAIN:
        return asset(name)
    given = ", ".join(_EXPORT.findall(asset(name)))
    return f"const {_object(name)} = (() => {{\n{_plain(name)}return {{ {given} }};\n}})();\n"


def _object(name: str) -> str:
    """What holds the exports of a module."""
    return "$" + re.sub(r"\W", "_", name.removeprefix("../../../").removesuffix(".js"))
