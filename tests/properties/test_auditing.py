"""An audit never fails on what a run holds, and its findings are about that run."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from labelled.runs import as_run

from summaries import Report, Severity
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run
from summaries.auditing.report.folded import folded
from summaries.auditing.report.github import github
from summaries.auditing.report.json import json as as_json
from summaries.auditing.report.sarif import sarif
from summaries.reading.series import Series
from summaries.wire.pb import SessionLog

TAGS = [
    "train/loss", "eval/loss", "lr", "grad_norm", "gradients/clipped", "gradients/clip_norm", "gradients/nonfinite",
    "gradients/norm/a", "gradients/norm/b", "weights/norm/a", "updates/norm/a", "updates/ratio/b", "slots/v/mean/a",
    "slots/v/max/a", "optim/clipping_rate", "gradients/zero_fraction/a", "anything",
]  # fmt: skip
INT64 = np.iinfo(np.int64)
STEPS = st.one_of(
    st.just(np.arange),
    st.just(lambda n: np.zeros(n, np.int64)),
    st.just(lambda n: np.arange(n) * 3 % 7),
    st.just(lambda n: np.linspace(INT64.min, INT64.max, n).astype(np.int64)),
    st.just(lambda n: -np.arange(n)),
)
FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
VALUES = st.one_of(
    arrays(np.float64, st.integers(1, 120), elements=FLOATS),
    st.builds(np.full, st.integers(1, 120), FLOATS),
    st.builds(np.linspace, st.floats(-1e30, 1e30), st.floats(-1e30, 1e30), st.integers(1, 120)),
)
TIMES = st.sampled_from(
    [lambda n: 1e9 + np.arange(n), np.zeros, lambda n: np.full(n, np.nan), lambda n: -1e300 * np.arange(n)]
)


@st.composite
def runs(draw):
    run = as_run(np.random.default_rng(0), {"x": (np.arange(2), np.zeros(2))})
    starts = draw(st.lists(st.tuples(st.integers(0, 120), st.integers(-5, 120)), max_size=2))
    run.session_logs = tuple((step, 1e9, SessionLog(status=SessionLog.START)) for _, step in starts)
    run.scalars = {}
    with np.errstate(all="ignore"):
        for tag in draw(st.lists(st.sampled_from(TAGS), max_size=6, unique=True)):
            value = draw(VALUES)
            restarts = [(min(before, len(value)), step) for before, step in sorted(starts)]
            step, times = draw(STEPS)(len(value)), draw(TIMES)(len(value))
            run.scalars[tag] = Series(tag, step.astype(np.int64), times, value, restarts)
    files = draw(st.integers(1, 3))
    run.files = tuple(f"events.{i}" for i in range(files))
    run.versions, run.records = ("brain.Event:2",) * files, (2,) * files
    run.file_starts = lambda tag: [len(run.scalars[tag]) * i // files for i in range(files)]
    run.tags = tuple(run.scalars)
    return run


@settings(max_examples=150, deadline=None)
@given(runs(), runs())
def test_whatever_a_run_holds(run, other):
    audited = audit_run("name", run, Config(), [other])
    for finding in audited.findings:
        assert finding.run == "name"
        assert finding.tag in {*run.tags, *other.tags, ""}
        assert finding.count >= 1
        assert finding.severity in Severity
        assert finding.steps is None or finding.steps[0] <= finding.steps[1]
        assert finding.message
    assert [finding.severity for finding in audited.findings] == sorted(
        (f.severity for f in audited.findings), reverse=True
    )
    report = Report((audited,))
    assert len(json.loads(as_json(report))["findings"]) == len(audited.findings)
    assert len(json.loads(sarif(report))["runs"][0]["results"]) == len(audited.findings)
    assert len(github(report).splitlines()) == len(folded(audited.findings))
