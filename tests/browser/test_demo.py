"""The demo's runs on the pages of the real TensorBoard: what its README's picture shows is there."""

import os

import pytest
from browser.dashboard import dashboard_apart, without_errors
from browser.plugin_page import FRAME
from helpers import ROOT, run

RUNS = ("clipped", "unclipped")
VARIABLES = ("recurrent/input", "recurrent/state", "recurrent/bias", "readout/weights", "readout/bias")
EPOCHS = 4
STEPS = 88


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """TensorBoard with the demo's runs."""
    logdir = tmp_path_factory.mktemp("demo") / "runs"
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    run(ROOT / "examples/sequential_digits.py", "--quick", "--logdir", logdir, env=environment)
    with dashboard_apart(browser, logdir, dict.fromkeys(RUNS, "test/accuracy")) as own:
        yield own


@pytest.fixture
def demo(page, screenshots, request):
    name = request.node.originalname.removeprefix("test_")
    with without_errors(page, screenshots / f"demo-{name}.png"):
        yield page


def test_custom_scalars(demo):
    demo.open("custom_scalars")
    for chart in ("norm against bound", "clipped fraction", "elements that are not finite"):
        demo.wait_for_text("tf-custom-scalar-multi-line-chart-card", chart)
    # Three norms of the run that clips, one of the other; one fraction; two counts.
    demo.wait_for("tf-custom-scalar-multi-line-chart-card path.line", 4 + 1 + 2)
    demo.expand("layers")
    for chart in ("gradient norms", "weight norms", "update norms", "update over weight norms"):
        card = demo.wait_for_text("tf-custom-scalar-multi-line-chart-card", chart)
        lines = card.locator("path.line")
        assert demo.until(lambda lines=lines: lines.count() >= len(RUNS) * len(VARIABLES)), chart


def test_histograms(demo):
    demo.open("histograms")
    for variable in VARIABLES:
        demo.wait_for_text("tf-histogram-loader, .tf-histogram-loader", f"histograms/gradients/{variable}")
    demo.wait_for("vz-histogram-timeseries .histogram path", EPOCHS * len(RUNS) * len(VARIABLES))


def test_distributions(demo):
    demo.open("distributions")
    demo.wait_for_text("tf-distribution-loader", "histograms/weights/readout/bias")
    areas = demo.wait_for("vz-distribution-chart path.area", len(RUNS))
    assert all(path.count("L") >= EPOCHS for path in areas.evaluate_all("all => all.map(e => e.getAttribute('d'))"))


def test_timeseries(demo):
    demo.open("timeseries&tagFilter=gradients%2Fglobal_norm%7Cupdates%2Fratio")
    demo.wait_for_text("scalar-card", "gradients/global_norm")
    for name in RUNS:
        demo.wait_for_text("scalar-card tb-data-table-content-row", name)
    row = demo.wait_for_text("scalar-card tb-data-table-content-row", "unclipped")
    assert demo.until(lambda: str(STEPS) in row.inner_text())
    demo.wait_until_drawn(lambda: demo.wait_for_text("scalar-card", "gradients/global_norm").locator("line-chart"))


def test_gradledger(demo):
    """Our own page: the verdicts, and the layers of the run that explodes, each of whose views is drawn."""
    demo.open("gradledger")
    frame = demo.page.frame_locator(FRAME)
    frame.locator("tbody tr.pass", has_text="clipped").wait_for()
    unclipped = frame.locator("tbody tr.error", has_text="unclipped")
    assert unclipped.locator("td.worst").inner_text().startswith("GL")
    unclipped.locator("th a").click()
    for tab in ("Layers over steps", "Clipping", "Findings and curves"):
        frame.get_by_role("link", name=tab).click()
        canvas = frame.locator("main canvas").first
        canvas.wait_for()
        assert demo.until(lambda canvas=canvas: demo.drawn(canvas) > 0.001), tab
