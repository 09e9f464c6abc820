"""A run as a page has it, for the tests of its JavaScript.

`PYTHONPATH=tests python -m javascript.packed_run` writes it anew.
"""

import json
import math

import numpy as np
from audits.reports import START
from helpers import ROOT

from summaries.auditing.curves import Curve
from summaries.auditing.findings import RunReport
from summaries.auditing.report.packed import as_text, plain
from summaries.auditing.report.payload import bodies
from summaries.auditing.reports import Report

FIXTURE = ROOT / "tests/javascript/packed_run.json"

_EVEN = START + 0.25 * np.arange(200)
_ODD = np.array([1.5, math.nan, math.inf, -math.inf, -0.0, 1e-40])
# Tag → steps, times and values; each column is packed in another way.
_COLUMNS = {
    "differences of one byte, float32": (np.arange(200), _EVEN, np.arange(200.0)),
    "differences of four bytes, float64": (70_000 * np.arange(200), _EVEN, np.arange(200) / 3),
    "steps beyond integers, not finite": (2**60 + 2**40 * np.arange(6), START + np.array([0, 9, 1, 2, 3, 4.0]), _ODD),
    "empty": (np.arange(0), np.zeros(0), np.zeros(0)),
}


def report():
    """A report of one run, with these curves."""
    curves = tuple(
        Curve(tag, "", "", step.astype(np.int64), times, values, len(values), values)
        for tag, (step, times, values) in _COLUMNS.items()
    )
    return Report((RunReport("run", ("run/events",), (), curves, 1, (0, 1), (START, START + 50)),))


def packed():
    """The run's body as a page has it, and what its columns must be; seconds may be off by `error`."""
    columns = [
        {
            "tag": tag,
            "step": [float(at) for at in step],
            "seconds": (times - START).tolist(),
            "value": [plain(value) for value in values.tolist()],
            "error": 0.51 * 50 / 65535,
        }
        for tag, (step, times, values) in _COLUMNS.items()
    ]
    return {"files": ["run/events"], "text": as_text(bodies(report())[0]), "curves": columns}


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(packed(), indent=1) + "\n", encoding="utf-8")
