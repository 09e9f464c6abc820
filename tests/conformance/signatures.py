"""The arguments of the originals' methods, beside ours: names, order and defaults."""

from __future__ import annotations

import inspect
from typing import Any

__all__ = ["differences_of", "public_methods"]


def public_methods(writer_class: type) -> list[str]:
    """The names of a class's public methods, and `__init__`."""
    return [
        "__init__",
        *(name for name in dir(writer_class) if not name.startswith("_") and callable(getattr(writer_class, name))),
    ]


def differences_of(ours: type, original: type, method: str) -> list[str]:
    """What a call of the original's method could notice; empty if every call of it means the same with ours."""
    if not hasattr(ours, method):
        return ["missing"]
    mine, theirs = (dict(inspect.signature(getattr(of, method)).parameters) for of in (ours, original))
    found = [_of_one(name, parameter, mine) for name, parameter in theirs.items() if _is_named(parameter)]
    positions = [name for name, parameter in theirs.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    at = [name for name, parameter in mine.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    if at[: len(positions)] != positions:
        found.append(f"by position: ours {at[1:]}, the original's {positions[1:]}")
    return [line for line in found if line]


def _is_named(parameter: inspect.Parameter) -> bool:
    return parameter.kind not in {parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL}


def _of_one(name: str, original: inspect.Parameter, ours: dict[str, Any]) -> str:
    if name not in ours:
        return f"{name}: missing"
    mine = ours[name].default
    if original.default is not original.empty and mine is ours[name].empty:
        return f"{name}: required, the original's default is {original.default!r}"
    alike = mine == original.default and type(mine) is type(original.default)
    return (
        "" if original.default is original.empty or alike else f"{name}={mine!r}, the original's {original.default!r}"
    )
