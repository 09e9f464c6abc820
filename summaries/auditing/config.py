"""The configuration: what to look for, as read from pyproject.toml, from another TOML file, or given in Python.

[tool.gradledger.audit]
ranks = 'worker-[0-9]+'              # what differs between the names of a job's ranks; the default matches rank=3
select = ["ALL"]                     # codes, or prefixes of codes such as "GL4"; the default is ALL
ignore = ["GL205"]                   # as in ruff, the longer prefix that matches a rule wins; if equal, ignore wins
fail-on = "error"                    # or "warning", "info", "never"

[tool.gradledger.audit.severity]
GL404 = "error"

[tool.gradledger.audit.thresholds.GL404]
fraction = 0.95                      # `gradledger rule GL404` lists the thresholds of a rule and their ranges

[tool.gradledger.audit.per-run-ignores]
"debug/*" = ["GL3"]                  # runs by shell pattern

[tool.gradledger.audit.tags]
loss = ['my_task/objective']         # regular expressions for whole tags; they are tried before the built-in ones
other = ['.*/aux_loss']              # no rule looks at tags with the role "other"

[tool.gradledger.audit.loggers]
"ppo/*" = "Stable-Baselines3"        # which framework wrote these runs, instead of what their tags show; or "none"

In Python, pass a dict with the same keys, or a `Config`.
"""

from __future__ import annotations

import fnmatch
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from summaries.auditing.findings import Severity
from summaries.auditing.names import ConfigError, check_name
from summaries.auditing.rules import RULES
from summaries.auditing.signals.loggers import LOGGERS, NO_LOGGER
from summaries.auditing.signals.ranks import RANKS
from summaries.auditing.signals.tags import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from summaries.auditing.rules.rule import Limits

__all__ = ["Config", "ConfigError", "as_config", "from_table", "load", "severity"]

_ALL = "ALL"
_NEVER = "never"
_OTHER = "other"


@dataclass(frozen=True)
class Config:
    """What to look for, and how strictly.

    Attributes:
        select: the rules to use: codes, prefixes of codes, or "ALL".
        ignore: the rules to leave out, in the same form. If entries of both lists match a rule, the longer entry wins;
            if they are equally long, the rule is left out.
        fail_on: lowest severity for which the exit status of the command line is 1; None for never.
        severity: code → severity, to replace that of the rule.
        thresholds: code → name → value, to replace those of the rule.
        per_run_ignores: shell pattern for names of runs → rules to leave out there, whatever `select` says.
        tags: (role, regular expression) pairs; they are tried before the built-in ones.
        ranks: a regular expression for the part of a run's name that differs between the ranks of one job.
        loggers: shell pattern for names of runs → the framework that wrote them, or "none"; the first that matches
            replaces what their tags show.

    Raises:
        ConfigError: a code, a severity, a threshold, a role, a pattern or a logger is invalid.

    >>> config = Config(select=("GL4",), thresholds={"GL404": {"fraction": 0.95}})
    >>> vars(config.limits("GL404"))
    {'fraction': 0.95, 'min_points': 100, 'min_shares': 20}
    """

    select: tuple[str, ...] = (_ALL,)
    ignore: tuple[str, ...] = ()
    fail_on: Severity | None = Severity.ERROR
    severity: Mapping[str, Severity] = field(default_factory=dict)
    thresholds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    per_run_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tags: tuple[tuple[str, str], ...] = ()
    ranks: str = RANKS
    loggers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ignores = {name: _codes(f'per-run-ignores."{name}"', codes) for name, codes in self.per_run_ignores.items()}
        for code in self.severity:
            check_name("severity", code, RULES, "code")
        severities = {code: _severity(f"severity.{code}", value) for code, value in self.severity.items()}
        for role, pattern in self.tags:
            check_name("tags", role or _OTHER, (*sorted(ROLES), _OTHER), "role")
            _check_pattern(f"tags.{role or _OTHER}", pattern)
        _check_pattern("ranks", self.ranks)
        for name in self.loggers.values():
            check_name("loggers", name, (*(logger.name for logger in LOGGERS), NO_LOGGER), "logger")
        values = {
            "select": _codes("select", self.select),
            "ignore": _codes("ignore", self.ignore),
            "fail_on": severity("fail-on", self.fail_on),
            "severity": severities,
            "thresholds": {code: _limits(code, limits) for code, limits in self.thresholds.items()},
            "per_run_ignores": ignores,
            "tags": tuple(("" if role == _OTHER else role, pattern) for role, pattern in self.tags),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @cached_property
    def selected(self) -> list[str]:
        """The codes of the selected rules."""
        return [code for code in RULES if _specificity(code, self.select) > _specificity(code, self.ignore)]

    def codes(self, run: str) -> list[str]:
        """The codes of the rules to use for a run.

        Args:
            run: the run's name.
        """
        if not self.per_run_ignores:
            return self.selected
        matching = [codes for pattern, codes in self.per_run_ignores.items() if fnmatch.fnmatchcase(run, pattern)]
        return [code for code in self.selected if not any(_specificity(code, codes) for codes in matching)]

    def logger(self, run: str) -> str:
        """The name of the logger that was given for the run of this name; "" if none was."""
        return next((name for pattern, name in self.loggers.items() if fnmatch.fnmatchcase(run, pattern)), "")

    def without(self, ignore: Iterable[str]) -> Config:
        """A copy that leaves out some rules, whatever `select` says.

        Args:
            ignore: codes, or prefixes of codes.

        Raises:
            ConfigError: there is no such code.
        """
        ignore = _codes("ignore", ignore)
        return replace(self, select=tuple(code for code in self.selected if not _specificity(code, ignore)), ignore=())

    def limits(self, code: str) -> Limits:
        """The thresholds of the rule with this code."""
        return self._limits[code]

    @cached_property
    def _limits(self) -> dict[str, Limits]:
        return {code: rule.limits(**self.thresholds.get(code, {})) for code, rule in RULES.items()}

    def fails(self, worst: Severity | None) -> bool:
        """Whether the exit status is 1.

        Args:
            worst: the worst severity that was found; None if nothing was.
        """
        return worst is not None and self.fail_on is not None and worst >= self.fail_on


def as_config(config: Config | Mapping[str, object] | str | os.PathLike[str] | None) -> Config:
    """The configuration for the argument of `summaries.audit`; for None the defaults.

    Raises:
        FileNotFoundError: the argument names a file that does not exist.
        TypeError: the argument is of another type.
        ConfigError: there is an unknown key or code, or an invalid value.
    """
    if config is None:
        return Config()
    if isinstance(config, Config):
        return config
    if isinstance(config, Mapping):
        return from_table(config)
    if not isinstance(config, str | os.PathLike):
        what = f"{type(config).__name__}: {config!r}"
        raise TypeError(f"config must be a Config, a dict of its keys, a TOML file or None, got {what}")
    return load(config)


def load(path: str | os.PathLike[str] | None = None) -> Config:
    """Read the configuration from a TOML file.

    Args:
        path: the file. None takes the nearest pyproject.toml with a table `[tool.gradledger.audit]`, in the current
            directory or above it; if there is none, the defaults.

    Raises:
        FileNotFoundError: the file does not exist.
        ConfigError: it is not valid TOML, or its table is missing or invalid; the message names the file.
    """
    if path is not None:
        path = os.fspath(path)
        table = _table(path)
        if table is None:
            raise ConfigError(f"{path}: no table [tool.gradledger.audit]")
        return _located(path, table)
    for candidate in _pyprojects(os.getcwd()):
        table = _table(candidate)
        if table is not None:
            return _located(candidate, table)
    return Config()


def _located(path: str, table: object) -> Config:
    try:
        return from_table(table)
    except ConfigError as error:
        raise ConfigError(f"{path}: [tool.gradledger.audit] {error}") from None


def _pyprojects(directory: str) -> Iterable[str]:
    """Each pyproject.toml in a directory and above it, the nearest first."""
    while True:
        candidate = os.path.join(directory, "pyproject.toml")
        if os.path.isfile(candidate):
            yield candidate
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _table(path: str) -> object:
    """Our table in a TOML file; None if the file has none."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        tables: Any = tomllib.loads(data.decode("utf-8-sig"))  # editors on Windows start a file with a byte order mark
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: must be UTF-8, got byte 0x{data[error.start]:02x} at offset {error.start}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from None
    ours = _entry(_entry(tables, "tool"), "gradledger")
    for name in ours if isinstance(ours, dict) else ():
        check_name(f"{path}: [tool.gradledger]", name, ["audit"], "table")
    return _entry(ours, "audit")


def _entry(table: object, key: str) -> Any:
    return table.get(key) if isinstance(table, dict) else None


def from_table(table: object) -> Config:
    """The configuration in a TOML table.

    Raises:
        ConfigError: there is an unknown key or code, for which the message suggests the closest, or an invalid value.

    >>> from_table({"ignore": ["GL205"], "fail-on": "warning"}).fail_on
    <Severity.WARNING: 1>
    """
    values: dict[str, Any] = {}
    for key, value in _dict("", table).items():
        check_name("", key, _READERS, "key")
        values[key.replace("-", "_")] = _READERS[key](key, value)
    return Config(**values)


def _severity(key: str, value: object, *others: str) -> Severity:
    if isinstance(value, Severity):
        return value
    names = [severity.name.lower() for severity in Severity]
    if value not in names:
        choices = ", ".join(f'"{name}"' for name in (*reversed(names), *others))
        raise ConfigError(f"{key} must be one of {choices}, got {value!r}")
    return Severity[str(value).upper()]


def severity(key: str, value: object) -> Severity | None:
    """The severity with this name; None for "never".

    Raises:
        ConfigError: there is no such severity; the message names `key`.
    """
    return None if value is None or value == _NEVER else _severity(key, value, _NEVER)


def _strings(key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise ConfigError(f"{key} must be a list of strings, got {value!r}")
    return tuple(value)


def _string_lists(key: str, value: object) -> dict[str, tuple[str, ...]]:
    return {name: _strings(f'{key}."{name}"', items) for name, items in _dict(key, value).items()}


def _tags(key: str, value: object) -> tuple[tuple[str, str], ...]:
    return tuple((role, pattern) for role, patterns in _string_lists(key, value).items() for pattern in patterns)


def _dict(key: str, value: object) -> dict[str, Any]:
    """A copy of a table."""
    if not isinstance(value, Mapping):
        raise ConfigError(f"{key or 'it'} must be a table, got {value!r}")
    return dict(value)


_READERS: dict[str, Callable[[str, object], Any]] = {
    "select": _strings,
    "ignore": _strings,
    "fail-on": severity,
    "severity": _dict,
    "thresholds": _dict,
    "per-run-ignores": _string_lists,
    "tags": _tags,
    "ranks": lambda _, value: value,
    "loggers": _dict,
}


def _specificity(code: str, prefixes: Iterable[str]) -> int:
    """How specific the longest prefix is that matches a code: longer ones rank higher; 0 if none matches."""
    return max((1 if prefix == _ALL else 1 + len(prefix) for prefix in prefixes if _matches(code, prefix)), default=0)


def _matches(code: str, prefix: str) -> bool:
    return prefix == _ALL or code.startswith(prefix)


def _codes(where: str, prefixes: object) -> tuple[str, ...]:
    """Codes and prefixes, in capitals and without spaces.

    Raises:
        ConfigError: one does not match any rule.
    """
    upper = tuple(prefix.strip().upper() for prefix in _strings(where, prefixes))
    for prefix in upper:
        if not (prefix and any(_matches(code, prefix) for code in RULES)):
            check_name(where, prefix, RULES, "code")
    return upper


def _limits(code: str, values: object) -> dict[str, float]:
    """The thresholds of a rule, each checked against its range."""
    check_name("thresholds", code, RULES, "code")
    thresholds, limits = RULES[code].thresholds, {}
    for name, value in _dict(f"thresholds.{code}", values).items():
        check_name(f"thresholds.{code}", name, thresholds, "threshold")
        try:
            limits[name] = thresholds[name].checked(value)
        except ValueError as error:
            raise ConfigError(f"thresholds.{code}.{name} {error}") from None
    return limits


def _check_pattern(key: str, pattern: object) -> None:
    if not isinstance(pattern, str):
        raise ConfigError(f"{key} must be a regular expression, got {pattern!r}")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ConfigError(f"{key}: {pattern!r} is not a regular expression: {error}") from None
