"""Runs with the same hyperparameters, what hyperparameters vary, and what a table says of them."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from summaries.reading.by_name import nearest
from summaries.reading.stated import value_of
from summaries.words import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from summaries.auditing.comparison.results import Value

__all__ = ["Table", "alike", "check_stated", "is_seed", "read_table", "stem", "varying"]

_SEED = re.compile(r"(?:.*[._/-])?(?:seed|random_?(?:seed|state)|rng|replicate|repeat|trial|fold)s?\d*", re.IGNORECASE)
_NUMBERED = re.compile(r"[/_.-]?(?:seed|s|run|version|trial|rep|exp)?[=_-]?\d+$", re.IGNORECASE)
_ID = re.compile(r"(?:^|/)(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{12,}$")  # as trackers give them
_MOST_LISTED = 12  # a line of names; configurations of trainers have hundreds
_LABELS = frozenset({"good", "bad", ""})


def is_seed(name: str) -> bool:
    """Whether a hyperparameter only tells runs of the same configuration apart.

    >>> [name for name in ("lr", "seed", "trainer/random_seed", "speed") if is_seed(name)]
    ['seed', 'trainer/random_seed']
    """
    return _SEED.fullmatch(name) is not None


def stem(name: str) -> str:
    """The name of a run without a number at its end: what runs without stated hyperparameters are grouped by.

    >>> stem("big/version_3"), stem("baseline-seed2"), stem("resnet"), stem("ed12e003d0c24692")
    ('big', 'baseline', 'resnet', 'ed12e003d0c24692')
    """
    return name if _ID.search(name) else _NUMBERED.sub("", name) or name


def varying(configurations: Iterable[Mapping[str, Value]]) -> tuple[str, ...]:
    """The hyperparameters that not all runs share, without seeds, in order of appearance."""
    runs = list(configurations)
    names = dict.fromkeys(name for run in runs for name in run if not is_seed(name))
    return tuple(name for name in names if len({repr(run.get(name)) for run in runs}) > 1)


def alike(configurations: Mapping[str, Mapping[str, Value]], by: Sequence[str] = ()) -> dict[str, list[str]]:
    """Runs with the same values of some hyperparameters, under a name that states these.

    Args:
        configurations: name of a run → its hyperparameters.
        by: the hyperparameters; if empty, all that vary but seeds, so that the runs of a group differ in nothing else;
            if none vary, the runs' names without the numbers at their ends.

    Raises:
        ValueError: no run has one of these hyperparameters.

    >>> from summaries.reading.stated import from_name
    >>> alike({name: from_name(name) for name in ("lr=1_seed=0", "lr=0.1_seed=0", "lr=1_seed=1")})
    {'lr=1': ['lr=1_seed=0', 'lr=1_seed=1'], 'lr=0.1': ['lr=0.1_seed=0']}
    """
    check_stated(by, [name for configuration in configurations.values() for name in configuration])
    names = by or varying(configurations.values())
    groups: dict[str, list[str]] = {}
    for run, own in configurations.items():
        stated = ",".join(f"{name}={_shown(own[name])}" for name in names if name in own)
        groups.setdefault(stated or ("other" if names else stem(run)), []).append(run)
    return groups


def check_stated(names: Iterable[str], stated: Collection[str], hidden: str = "") -> None:
    """Raise a ValueError if one of the names is not stated by any run.

    Args:
        names: of hyperparameters.
        stated: what runs state, perhaps repeatedly.
        hidden: a name that the message does not list.
    """
    for name in names:
        if name not in stated:
            others = [other for other in dict.fromkeys(stated) if not is_seed(other) and other != hidden]
            if len(others) > _MOST_LISTED:
                others = [listed([*dict.fromkeys([*nearest(name, others), *others])])]
            raise ValueError(f"no run states the hyperparameter {name!r}; stated: {', '.join(others) or 'none'}")


def _shown(value: Value) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


@dataclass(frozen=True)
class Table:
    """A table of runs: what it says of each, and which are good or bad.

    Attributes:
        rows: name of a run → name of a column → value.
        labels: name of a run → "good" or "bad".
    """

    rows: dict[str, dict[str, Value]] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


def read_table(path: str) -> Table:
    """Read a CSV file: a column `run` with names, others with hyperparameters; `label` says which are good or bad.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: there is no column `run`, or a label is something else; the message names the file.
    """
    table = Table()
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        columns = reader.fieldnames or ()
        if "run" not in columns:
            raise ValueError(f"{path}: there must be a column 'run', got {', '.join(columns) or 'none'}")
        for row in reader:
            name, label = row.pop("run"), (row.pop("label", "") or "").strip().lower()
            if label not in _LABELS:
                raise ValueError(f"{path}: a label must be good, bad or empty, got {label!r} for {name}")
            table.rows[name] = {key: value_of(text) for key, text in row.items() if key and text}
            if label:
                table.labels[name] = label
    return table
