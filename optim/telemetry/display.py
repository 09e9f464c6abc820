"""A step's report as a notebook shows it: what happened, and a row for each variable, bounded in size."""

from __future__ import annotations

import math
from itertools import islice
from typing import TYPE_CHECKING

from summaries.presenting.markup import amount, bar, block, colored, short, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optim.telemetry.report import StepReport, VariableReport
    from summaries.presenting.markup import Markup

__all__ = ["step_html"]

_MOST_ROWS = 30


def step_html(report: StepReport) -> str:
    """The step's numbers in a row, and below it the variables, with a bar for the norm of each gradient."""
    numbers = {
        "step": report.step,
        "loss": report.loss,
        "learning rate": report.learning_rate,
        "global norm": report.global_norm,
        "clip norm": report.clip_norm,
        "not finite": report.nonfinite,
    }
    numbers = {title: value for title, value in numbers.items() if value is not None}
    happened = ["skipped"] * report.skipped + ["clipped"] * report.clipped
    parts = [table([*numbers, ""], [[*numbers.values(), colored(", ".join(happened), "warning")]])]
    if report.variables:
        parts.append(_variables(report.variables))
    return block(*parts)


def _variables(variables: Sequence[VariableReport]) -> Markup:
    shown = list(islice(variables, _MOST_ROWS))
    _, weights, updates, _, ratios = getattr(variables, "measured", (True,) * 5)  # a rule may do without some
    norms = [report.gradient_norm for report in shown if math.isfinite(report.gradient_norm)]
    largest = max(norms, default=0.0)
    rows = [
        (
            short(report.name),
            report.size,
            report.gradient_norm,
            bar(report.gradient_norm / largest if largest else 0.0),
            report.weight_norm if weights else None,
            report.update_norm if updates else None,
            report.update_ratio if ratios else None,
        )
        for report in shown
    ]
    more = len(variables) - len(shown)
    titles = ("variable", "size", "gradient norm", "", "weight norm", "update norm", "update / weight")
    return table(titles, rows, f"and {amount(more, 'more variable')}" if more else "")
