"""A comparison of runs as one HTML file that needs no server, no network and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from summaries.auditing.report.comparison import SIGNIFICANT, as_dict
from summaries.auditing.report.document import document
from summaries.auditing.report.packed import to_json
from summaries.presenting.thinning import thin

if TYPE_CHECKING:
    from summaries.auditing.comparison import Comparison
    from summaries.auditing.curves import Curve

__all__ = ["html"]

_STYLES = ("page.css", "comparison.css")
_POINTS = 120_000  # in a page, which is about 2 MB of text
_DIGITS = 5


def html(comparison: Comparison) -> str:
    """Render the page; returns the text of the file, to be written as UTF-8."""
    stretches = max(_POINTS // (2 * max(len(comparison.members), 1)), 10)
    curves = [_curve(member.curve, stretches) for member in comparison.members]
    data = {**as_dict(comparison), "significant": SIGNIFICANT, "curves": curves}
    return document("compare", "comparison.js", _STYLES, data=to_json(data))


def _curve(curve: Curve, stretches: int) -> dict[str, Any]:
    """Steps and values; null where a value is not finite."""
    at = thin(curve.value, stretches)
    values = [float(f"{x:.{_DIGITS}g}") if np.isfinite(x) else None for x in curve.value[at].tolist()]
    return {"step": curve.step[at].tolist(), "value": values}
