"""A flight recorder around a NaN, before an exception and before SIGTERM: on the pages of TensorBoard, and audited."""

import signal

import pytest
from browser.dashboard import dashboard_apart, without_errors
from browser.incident_run import AT, EVERY, KEPT, LAYERS, STEPS
from helpers import ROOT, run

from summaries import audit

ENDINGS = {"nan": 0, "exception": 1, "sigterm": -signal.SIGTERM}
REASONS = {"nan": "gradients are not finite", "exception": "RuntimeError: no more data", "sigterm": "SIGTERM"}
INCIDENTS = {name: f"{name}/incident={AT}" for name in ENDINGS}
FIRST = AT - KEPT + 1
LAST = {"nan": AT + KEPT // 4, "exception": AT, "sigterm": AT}


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """The runs of three programs."""
    logdir = tmp_path_factory.mktemp("incidents") / "runs"
    for ending, status in ENDINGS.items():
        run(ROOT / "tests/browser/incident_run.py", logdir / ending, ending, status=status)
    return logdir


@pytest.fixture(scope="module")
def page(browser, logdir):
    """TensorBoard with them, in a browser of its own."""
    with dashboard_apart(
        browser, logdir, dict.fromkeys([*ENDINGS, *INCIDENTS.values()], "gradients/norm/output")
    ) as own:
        yield own


@pytest.fixture
def incidents(page, screenshots, request):
    name = request.node.originalname.removeprefix("test_")
    with without_errors(page, screenshots / f"{name}.png"):
        yield page


def test_incidents_scalars(incidents):
    """The run ends at a step that is due, the incident at the last step that was recorded."""
    incidents.open("scalars&_smoothingWeight=0")
    chart = incidents.wait_for_text("tf-scalar-card", "train/loss").locator("vz-line-chart2")
    incidents.expand("train")
    ends = {"nan": STEPS, "exception": AT // EVERY * EVERY, "sigterm": AT // EVERY * EVERY}
    ends |= {INCIDENTS[name]: last for name, last in LAST.items()}
    said = incidents.hover_chart(chart, lambda said: steps_of(said) == ends)
    assert steps_of(said) == ends


def steps_of(said):
    return {name: int(step) for name, (_, _, step) in said.items()}


def test_incidents_of_each_layer(incidents):
    """Each step around the incident is there, of each layer."""
    for name, last in LAST.items():
        for layer in LAYERS:
            points = incidents.scalars(INCIDENTS[name], f"gradients/norm/{layer}")
            assert [step for _, step, _ in points] == list(range(FIRST, last + 1))
            bad = [step for _, step, value in points if value == "NaN"]
            assert bad == ([AT] if (name, layer) == ("nan", "hidden") else [])
    incidents.open("timeseries")
    for layer in LAYERS:
        incidents.wait_for_text("scalar-card", f"gradients/norm/{layer}")


def test_incidents_text(incidents):
    incidents.open("text")
    for words in REASONS.values():
        incidents.wait_for_text("tf-text-loader", words)


def test_the_audit(logdir):
    found = {(finding.run, finding.code): finding.message for finding in audit(logdir).findings}
    for name, words in REASONS.items():
        assert found.pop((INCIDENTS[name], "GL208")) == (
            f"steps {FIRST} to {LAST[name]} are recorded, each of them: at step {AT}, {words}"
        )
    assert list(found) == [("nan", "GL401")]
