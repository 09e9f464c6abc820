"""A comparison of runs as text for the terminal, and as JSON."""

from __future__ import annotations

import json as encoder
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import summaries
from summaries.auditing.report.text import print_broken
from summaries.presenting.terminal import printable
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from summaries.auditing.comparison import Comparison, Estimate, Separation

__all__ = ["VERSION", "as_dict", "configuration_text", "json", "lines_below", "show"]

VERSION = "1.0"
"""The version of the JSON format. The first number changes if readers of the previous version would fail."""

_OF_A_LEVEL = "value", "runs", "median"
_OF_A_RUN = "run", "hyperparameters", "final", "best", "best_step", "diverged", "label", "verdict"
_LEGIBLE = 12  # characters of a hyperparameter that even a narrow table shows
_TOLD = 3  # of the runs that are left out

SIGNIFICANT = 0.05
"""Below this corrected p-value, a hyperparameter is said to separate good runs from bad ones."""


def show(comparison: Comparison, console: Console) -> None:
    """Print a comparison: the groups in a table, and below what stands out, a sentence each."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console.print(Text(printable(_heading(comparison))), soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="dim")
    by = comparison.by
    levels = [[_value(group.hyperparameters.get(name)) for name in by] or ["all"] for group in comparison.groups]
    for at, name in enumerate(by or ("group",)):
        widest = max((len(values[at]) for values in levels), default=0)
        # Only what is long is wrapped: on a narrow terminal, rich shrinks such columns first, even to nothing.
        table.add_column(Text(printable(name)), min_width=min(widest, _LEGIBLE), no_wrap=widest <= _LEGIBLE)
    for title in ("runs", "final", "best", "diverged"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("")
    for group, values in zip(comparison.groups, levels, strict=True):
        numbers = [str(len(group.runs)), _estimate(group.final), _estimate(group.best), str(group.diverged or "")]
        table.add_row(*(Text(printable(cell)) for cell in (*values, *numbers, "seeds disagree" * group.disagree)))
    console.print(table)
    for line in lines_below(comparison):
        print_broken(console, printable(line))


def _heading(comparison: Comparison) -> str:
    runs = counted(len(comparison.members), "run")
    groups = counted(len(comparison.groups), "group")
    better = "larger is better" if comparison.maximize else "smaller is better"
    return f"{runs} in {groups}, by {comparison.metric} ({comparison.measure}, {better})"


def _estimate(estimate: Estimate) -> str:
    if estimate.runs < 2:  # noqa: PLR2004 - one run has no interval
        return f"{estimate.mean:.4g}" if estimate.runs else "-"
    return f"{estimate.mean:.4g} ± {(estimate.high - estimate.low) / 2:.2g}"


def _value(value: object) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def configuration_text(values: Mapping[str, object]) -> str:
    """Hyperparameters in words.

    >>> configuration_text({"lr": 0.001, "act": "relu"})
    'lr=0.001 act=relu'
    """
    return " ".join(f"{name}={_value(value)}" for name, value in values.items())


def lines_below(comparison: Comparison) -> Iterator[str]:
    """What stands out, a sentence each."""
    yield from map(_separation, comparison.separations)
    if comparison.explained:
        yield comparison.explained
    for outlier in comparison.outliers:
        far = "diverged" if math.isinf(outlier.deviations) else f"is {abs(outlier.deviations):.1f} deviations off"
        yield f"outlier: {outlier.run} {far}: {outlier.final:.4g}, its group {outlier.usual:.4g}"
    for group in comparison.groups:
        if group.disagree:
            name = configuration_text(group.hyperparameters)
            yield f"seeds disagree: {name}: from {group.runs[0]} (best quarter) to {group.runs[-1]} (worst quarter)"
    for names in comparison.identical:
        yield f"identical, bit for bit: {', '.join(names)}"
    yield from _taught_lines(comparison)
    if comparison.left_out:
        told = [f"{name}: {reason}" for name, reason in comparison.left_out[:_TOLD]]
        if further := len(comparison.left_out) - len(told):
            told.append(f"and {further:,} more")
        yield f"left out: {counted(len(comparison.left_out), 'run')}: {'; '.join(told)}"


def _taught_lines(comparison: Comparison) -> Iterator[str]:
    taught = comparison.taught
    if taught is None:
        return
    below = "at least" if comparison.maximize else "at most"
    yield (
        f"{taught.good} good and {taught.bad} bad runs are told apart by {comparison.metric} ({comparison.measure},"
        f" the best of {taught.candidates}): AUC {taught.auc:.2f}; good is {below} {taught.cut:.4g}"
    )
    for member in comparison.members:
        if member.label and member.label != member.verdict:
            yield f"{member.run} is marked {member.label}, and looks {member.verdict}"


def _separation(tested: Separation) -> str:
    name, test = tested.hyperparameter, f"Kruskal-Wallis H {tested.statistic:.1f}, p {tested.p:.2g}"
    if tested.p >= SIGNIFICANT:
        return f"no effect of {name} is seen ({test})"
    best, worst = tested.levels[0], tested.levels[-1]
    return (
        f"{name} separates the runs: it explains {tested.share:.0%} of the variance of their ranks ({test}); best is"
        f" {best[0]} ({_median(best[2])}), worst {worst[0]} ({_median(worst[2])})"
    )


def _median(value: float) -> str:
    return f"median {value:.4g}" if math.isfinite(value) else "most diverge"


def json(comparison: Comparison) -> str:
    """The comparison as one JSON object, followed by a line break."""
    return encoder.dumps(as_dict(comparison), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as values that JSON can hold; a number that is not finite becomes null."""
    return {
        "version": VERSION,
        "tool": {"name": "gradledger", "version": summaries.__version__},
        **_attributes(comparison, "metric", "measure", "maximize", "by", "groups"),
        "separations": [
            {"hyperparameter": separation.hyperparameter, "test": "Kruskal-Wallis, by shuffling; Holm"}
            | _plain(separation)
            | {"levels": [dict(zip(_OF_A_LEVEL, _plain(level), strict=True)) for level in separation.levels]}
            for separation in comparison.separations
        ],
        **_attributes(comparison, "outliers", "identical", "within", "explained"),
        "taught": comparison.taught and _attributes(comparison.taught, "good", "bad", "candidates", "auc", "cut"),
        "runs": [_attributes(member, *_OF_A_RUN) for member in comparison.members],
        "left_out": [{"run": name, "reason": reason} for name, reason in comparison.left_out],
    }


def _attributes(value: object, *names: str) -> dict[str, Any]:
    return {name: _plain(getattr(value, name)) for name in names}


def _plain(value: Any) -> Any:
    """A value, and all that is in it, as JSON can hold it."""
    if is_dataclass(value):
        return _attributes(value, *(field.name for field in fields(value)))
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value
