"""The API reference: what is shown of a class, what backticks link to, and whether every public name is there."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from sphinx.ext.autodoc.mock import mock
from sphinx.util import logging

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docutils.nodes import Element
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__all__ = ["setup"]

_PACKAGES = {"gradledger", "summaries", "optim"}
_WITH_PUBLIC_NAMES = (
    "gradledger",
    "summaries",
    "summaries.tools",
    "summaries.auditing",
    "summaries.auditing.live",
    "optim",
)
_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", _skip_foreign)
    app.connect("missing-reference", _as_code)
    app.connect("env-check-consistency", _check_that_all_are_there)
    return {"parallel_read_safe": True}


def _skip_foreign(app: Sphinx, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Leave out what a class has from other people's classes, such as Mapping's methods."""
    function = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    if not (inspect.isroutine(function) or inspect.isgetsetdescriptor(function)):
        return None
    module = getattr(function, "__module__", None) or ""
    return None if module.partition(".")[0] in _PACKAGES else True


def _as_code(app: Sphinx, env: BuildEnvironment, node: Element, text: Element) -> Element | None:
    """In docstrings, backticks and types are links where they name something public, and code where they do not.

    But a dotted name that begins with one of our packages has to exist.
    """
    target = str(node["reftarget"])
    if node.get("refdomain") != "py" or not str(node.get("refdoc", "")).startswith("api/"):
        return None
    package, *names = target.split(".")
    is_ours = package in _PACKAGES and all(name.isidentifier() for name in names)
    return None if is_ours and not _exists(target) else text


def _exists(name: str) -> bool:
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def _public_names(app: Sphinx) -> Iterator[str]:
    with mock(app.config.autodoc_mock_imports):
        frameworks = import_module("optim.integrations").FRAMEWORKS.split()
        for name in (*_WITH_PUBLIC_NAMES, *(f"optim.integrations.{framework}" for framework in frameworks)):
            yield from (f"{name}.{public}" for public in import_module(name).__all__)


def _check_that_all_are_there(app: Sphinx, env: BuildEnvironment) -> None:
    described = env.domains["py"].data["objects"]
    same = {id(resolve_name(name)) for name in described if _exists(name)}  # under another name
    for name in _public_names(app):
        if name not in described and id(resolve_name(name)) not in same:
            _log.warning("%s is public, but no page in docs/api describes it", name)
