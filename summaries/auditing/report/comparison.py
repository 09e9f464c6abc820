"""A comparison of runs as text for the terminal, and as JSON."""

from __future__ import annotations

import json as encoder
import math
from typing import TYPE_CHECKING, Any

import summaries
from summaries.terminal import broken, printable
from summaries.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console

    from summaries.auditing.comparison import Comparison, Estimate, Separation

__all__ = ["VERSION", "as_dict", "configuration_text", "json", "lines_below", "show"]

VERSION = "1.0"
"""The version of the JSON format. The first number changes if readers of the previous version would fail."""

_LEGIBLE = 12  # characters of a hyperparameter that even a narrow table shows

SIGNIFICANT = 0.05
"""Below this corrected p-value, a hyperparameter is said to separate good runs from bad ones."""


def show(comparison: Comparison, console: Console) -> None:
    """Print a comparison: the groups in a table, and below what stands out, a sentence each."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console.print(Text(_heading(comparison)), soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="dim")
    by = comparison.by
    levels = [[_value(group.hyperparameters.get(name)) for name in by] or ["all"] for group in comparison.groups]
    for at, name in enumerate(by or ("group",)):
        widest = max((len(values[at]) for values in levels), default=0)
        # Only what is long is wrapped: on a narrow terminal, rich shrinks such columns first, even to nothing.
        table.add_column(printable(name), min_width=min(widest, _LEGIBLE), no_wrap=widest <= _LEGIBLE)
    for title in ("runs", "final", "best", "diverged"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("")
    for group, values in zip(comparison.groups, levels, strict=True):
        numbers = [str(len(group.runs)), _estimate(group.final), _estimate(group.best), str(group.diverged or "")]
        table.add_row(*(Text(printable(cell)) for cell in (*values, *numbers, "seeds disagree" * group.disagree)))
    console.print(table)
    for line in lines_below(comparison):
        for part in broken(printable(line), console.width):
            console.print(Text(part), soft_wrap=True)


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
    for one in comparison.separations:
        yield _separation(one)
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
        yield f"left out: {counted(len(comparison.left_out), 'run')}: " + "; ".join(
            f"{name}: {reason}" for name, reason in comparison.left_out[:3]
        )


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


def _separation(one: Separation) -> str:
    test = f"Kruskal-Wallis H {one.statistic:.1f}, p {one.p:.2g}"
    if one.p >= SIGNIFICANT:
        return f"no effect of {one.hyperparameter} is seen ({test})"
    best, worst = one.levels[0], one.levels[-1]
    return (
        f"{one.hyperparameter} separates the runs: it explains {one.share:.0%} of the variance of their ranks ({test});"
        f" best is {best[0]} ({_plain_text(best[2])}), worst {worst[0]} ({_plain_text(worst[2])})"
    )


def _plain_text(value: float) -> str:
    return f"median {value:.4g}" if math.isfinite(value) else "most diverge"


def json(comparison: Comparison) -> str:
    """The comparison as one JSON object, followed by a line break."""
    return encoder.dumps(as_dict(comparison), indent=1, ensure_ascii=True, allow_nan=False) + "\n"


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as values that JSON can hold; a number that is not finite becomes null."""
    return {
        "version": VERSION,
        "tool": {"name": "gradledger", "version": summaries.__version__},
        "metric": comparison.metric,
        "measure": comparison.measure,
        "maximize": comparison.maximize,
        "by": list(comparison.by),
        "groups": [
            {
                "hyperparameters": _plain(group.hyperparameters),
                "runs": list(group.runs),
                "final": _interval(group.final),
                "best": _interval(group.best),
                "diverged": group.diverged,
                "disagree": group.disagree,
            }
            for group in comparison.groups
        ],
        "separations": [
            {
                "hyperparameter": one.hyperparameter,
                "test": "Kruskal-Wallis, by shuffling; Holm",
                "share": _number(one.share),
                "statistic": _number(one.statistic),
                "p": _number(one.p),
                "levels": [{"value": name, "runs": runs, "median": _number(x)} for name, runs, x in one.levels],
            }
            for one in comparison.separations
        ],
        "outliers": [
            {"run": one.run, "final": _number(one.final), "usual": one.usual, "deviations": _number(one.deviations)}
            for one in comparison.outliers
        ],
        "identical": [list(names) for names in comparison.identical],
        "within": _number(comparison.within),
        "explained": comparison.explained,
        "taught": None if comparison.taught is None else _taught(comparison),
        "runs": [
            {
                "run": one.run,
                "hyperparameters": _plain(one.hyperparameters),
                "final": _number(one.final),
                "best": _number(one.best),
                "best_step": one.best_step,
                "diverged": one.diverged,
                "label": one.label,
                "verdict": one.verdict,
            }
            for one in comparison.members
        ],
        "left_out": [{"run": name, "reason": reason} for name, reason in comparison.left_out],
    }


def _taught(comparison: Comparison) -> dict[str, Any]:
    taught = comparison.taught
    assert taught is not None
    counts = {"good": taught.good, "bad": taught.bad, "candidates": taught.candidates}
    return {**counts, "auc": _number(taught.auc), "cut": _number(taught.cut)}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _number(value) if isinstance(value, float) else value for name, value in values.items()}


def _interval(estimate: Estimate) -> dict[str, Any]:
    return {
        "mean": _number(estimate.mean),
        "low": _number(estimate.low),
        "high": _number(estimate.high),
        "runs": estimate.runs,
    }


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
