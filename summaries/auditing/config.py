"""What to look for: the configuration, from pyproject.toml, from another TOML file, or from Python.

[tool.gradledger.audit]
select = ["GL"]                      # codes, or what codes begin with; all of them by default
ignore = ["GL205"]
fail-on = "error"                    # or "warning", "info", "never"

[tool.gradledger.audit.severity]
GL404 = "error"

[tool.gradledger.audit.thresholds.GL404]
fraction = 0.95                      # `gradledger rule GL404` lists a rule's thresholds

[tool.gradledger.audit.per-run-ignores]
"debug/*" = ["GL3"]                  # runs by shell pattern

[tool.gradledger.audit.tags]
loss = ['my_task/objective']         # regular expressions for whole tags; tried before the built-in ones
other = ['.*/aux_loss']              # a tag of the role "other" is none of the roles that rules know
"""

from __future__ import annotations

import difflib
import fnmatch
import math
import os
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from summaries.auditing.finding import Severity
from summaries.auditing.rules import RULES
from summaries.auditing.tags import ROLES, compiled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Config", "ConfigError", "check_code", "from_table", "load", "severity"]

_NEVER = "never"
_OTHER = "other"


class ConfigError(ValueError):
    """A configuration has a key, a code or a value that it cannot have."""


@dataclass(frozen=True)
class Config:
    """What to look for, and how strictly.

    Attributes:
        select: codes, or what codes begin with.
        ignore: the same; what is ignored is not looked for, although it is selected.
        fail_on: the least severity for which the command line's exit status is 1; None: never.
        severity: by code, where it is to be another than the rule's.
        thresholds: by code, then by name, where they are to be others than the rule's.
        per_run_ignores: what to ignore in runs whose name a shell pattern matches.
        tags: (role, regular expression) pairs, tried before the built-in ones.

    Raises:
        ConfigError: a code, a threshold, a role or a pattern is none.
    """

    select: tuple[str, ...] = ("GL",)
    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    severity: Mapping[str, Severity] = field(default_factory=dict)
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    per_run_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        _check_codes("select", self.select)
        _check_codes("ignore", self.ignore)
        for pattern, codes in self.per_run_ignores.items():
            _check_codes(f'per-run-ignores."{pattern}"', codes)
        for code in self.severity:
            _known("severity", code, RULES, "code")
        for code, values in self.thresholds.items():
            _known("thresholds", code, RULES, "code")
            for name, value in values.items():
                _known(f"thresholds.{code}", name, RULES[code].thresholds, "threshold")
                if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
                    raise ConfigError(f"thresholds.{code}.{name} must be a number, got {value!r}")
        for role, pattern in self.tags:
            _known("tags", role or _OTHER, (*sorted(ROLES), _OTHER), "role")
            try:
                compiled(((role, pattern),))
            except re.error as error:
                raise ConfigError(f"tags.{role}: {pattern!r} is no regular expression: {error}") from None

    def codes(self, run: str) -> list[str]:
        """The codes of the rules that look at a run of this name."""
        ignored = list(self.ignore)
        for pattern, codes in self.per_run_ignores.items():
            if fnmatch.fnmatchcase(run, pattern):
                ignored += codes
        return [code for code in RULES if _selected(code, self.select) and not _selected(code, ignored)]

    def limits(self, code: str) -> dict[str, float]:
        """A rule's thresholds."""
        return {**RULES[code].thresholds, **self.thresholds.get(code, {})}

    def fails(self, worst: Severity | None) -> bool:
        """Whether findings of this severity, and none worse, are to fail the command line."""
        return worst is not None and self.fail_on is not None and worst >= self.fail_on


def load(path: str | os.PathLike[str] | None = None) -> Config:
    """The configuration in a TOML file; where None, in the nearest pyproject.toml that has one, or the default.

    Raises:
        FileNotFoundError: there is no such file.
        ConfigError: it is no TOML, has no table for us, or one that is wrong; the message names the file.
    """
    if path is None:
        for candidate in _pyprojects(os.getcwd()):
            table = _table(candidate)
            if table is not None:
                return _located(candidate, table)
        return Config()
    path = os.fspath(path)
    table = _table(path)
    if table is None:
        raise ConfigError(f"{path}: no table [tool.gradledger.audit]")
    return _located(path, table)


def _located(path: str, table: object) -> Config:
    try:
        return from_table(table)
    except ConfigError as error:
        raise ConfigError(f"{path}: [tool.gradledger.audit] {error}") from None


def _pyprojects(directory: str) -> Iterable[str]:
    """The pyproject.toml of a directory and of those above it, nearest first."""
    while True:
        candidate = os.path.join(directory, "pyproject.toml")
        if os.path.isfile(candidate):
            yield candidate
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _table(path: str) -> object:
    with open(path, "rb") as file:
        try:
            tables: Any = tomllib.load(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: {error}") from None
    for key in ("tool", "gradledger", "audit"):
        tables = tables.get(key) if isinstance(tables, dict) else None
    return tables


def from_table(table: object) -> Config:
    """The configuration that a TOML table says.

    Raises:
        ConfigError: it has a key, a code or a value that it cannot have; the message suggests the nearest.

    >>> from_table({"ignore": ["GL205"], "fail-on": "warning"}).fail_on
    <Severity.WARNING: 1>
    """
    values: dict[str, Any] = {}
    for key, value in _dict("", table).items():
        _known("", key, _READERS, "key")
        values[key.replace("-", "_")] = _READERS[key](key, value)
    return Config(**values)


def _severity(key: str, value: object, *others: str) -> Severity:
    names = [severity.name.lower() for severity in Severity]
    if value not in names:
        choices = ", ".join(f'"{name}"' for name in (*reversed(names), *others))
        raise ConfigError(f"{key} must be one of {choices}, got {value!r}")
    return Severity[str(value).upper()]


def severity(key: str, value: object) -> Severity | None:
    """The severity of this name; None for "never".

    Raises:
        ConfigError: it is neither; the message names `key`.
    """
    return None if value == _NEVER else _severity(key, value, _NEVER)


def check_code(code: str) -> None:
    """Refuse what is no rule's code.

    Raises:
        ConfigError: it is none; the message suggests the nearest.
    """
    _known("", code, RULES, "code")


def _severities(key: str, value: object) -> dict[str, Severity]:
    return {code: _severity(f"{key}.{code}", severity) for code, severity in _dict(key, value).items()}


def _strings(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{key} must be a list of strings, got {value!r}")
    return tuple(value)


def _string_lists(key: str, value: object) -> dict[str, tuple[str, ...]]:
    return {name: _strings(f'{key}."{name}"', items) for name, items in _dict(key, value).items()}


def _thresholds(key: str, value: object) -> dict[str, dict[str, float]]:
    return {code: _dict(f"{key}.{code}", values) for code, values in _dict(key, value).items()}


def _tags(key: str, value: object) -> tuple[tuple[str, str], ...]:
    return tuple(
        ("" if role == _OTHER else role, pattern)
        for role, patterns in _string_lists(key, value).items()
        for pattern in patterns
    )


def _dict(key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigError(f"{key or 'it'} must be a table, got {value!r}")
    return value


_READERS: dict[str, Callable[[str, object], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "fail-on": severity,
    "severity": _severities,
    "thresholds": _thresholds,
    "per-run-ignores": _string_lists,
    "tags": _tags,
}


def _selected(code: str, prefixes: Iterable[str]) -> bool:
    return code.startswith(tuple(prefixes))


def _check_codes(where: str, prefixes: Iterable[str]) -> None:
    for prefix in prefixes:
        if not (prefix and any(code.startswith(prefix) for code in RULES)):
            _known(where, prefix, RULES, "code")


def _known(where: str, name: str, names: Iterable[str], what: str) -> None:
    """Refuse a name that is none of `names`, and suggest the nearest."""
    names = list(names)
    if name in names:
        return
    place = f"{where}: " if where else ""
    nearest = difflib.get_close_matches(str(name), names, 1, 0.4)
    hint = f"; did you mean {nearest[0]!r}?" if nearest else f"; there are {', '.join(names) or 'none'}"
    raise ConfigError(f"{place}unknown {what} {name!r}{hint}")
