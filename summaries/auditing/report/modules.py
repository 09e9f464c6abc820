"""The scripts of the pages: ES modules, which a server gives as they are, and a self-contained file as plain scripts.

A module imports by name only, `import { a, b } from "./other.js";`, and renames nothing. So modules without these lines
and without the word `export` may share one scope: every module comes after those that it imports. Comments that have
lines of their own, most of which are types for our checks, are left out of the file: they would be a third of it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

__all__ = ["PLAIN", "asset", "plain_scripts", "reachable"]

PLAIN = {"uplot/uPlot.iife.min.js": "uPlot"}
"""Scripts that are no modules, and the name that each defines."""

_IMPORT = re.compile(r'^import \{[\w,\s]+\} from "\./([\w./]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://[^\n]*|/\*\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) )", re.MULTILINE)


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
    """The texts of these modules as scripts that share one scope, in the order in which they run."""
    return list(map(_plain, reachable(entry)))


@cache
def _imports(name: str) -> list[str]:
    return [] if name in PLAIN else _IMPORT.findall(asset(name))


def _plain(name: str) -> str:
    if name in PLAIN:
        return asset(name)
    return '"use strict";\n' + _EXPORT.sub("", _COMMENT.sub("", _IMPORT.sub("", asset(name))))
