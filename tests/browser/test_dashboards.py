"""What was logged is on the page: the real TensorBoard, in headless Chromium."""

import io

import pytest
from browser.graph import NODES
from browser.log_run import COMPLETE, DIVERGED, NOTE, STEPS, SWEEP, TRACED
from PIL import Image

BOTH = pytest.mark.parametrize("loader", ["python", "rust"], indirect=True)
LAST = str(STEPS - 1)
# tag → size in pixels
PICTURES = {
    "digits/box": (128, 128),
    "digits/mistaken": (448, 112),
    "figures/confusion": (400, 360),
    "weights/hidden_0": (64, 64),
    "weights/learning": (256, 256),
}


@BOTH
def test_scalars(dashboard, logged):
    dashboard.open("scalars")
    dashboard.wait_for_text("tf-scalar-card", "loss/low")
    chart = dashboard.wait_for_text("tf-scalar-card", "accuracy").locator("vz-line-chart2")
    # add_scalars makes a run of each line
    lines = {f"{run}/accuracy_{part}" for run in SWEEP for part in ("train", "test")}
    rows = dashboard.hover_chart(chart, lambda said: set(said) == lines and ends_of(said) == {LAST})
    assert set(rows) == lines
    for run, metrics in logged[1].items():
        assert rows[f"{run}/accuracy_test"][1:] == [f"{metrics['test/accuracy']:.4}", LAST]


@BOTH
def test_resumed_run_hides_what_it_supersedes(dashboard):
    dashboard.open("scalars")
    chart = dashboard.wait_for_text("tf-scalar-card", "loss/mean").locator("vz-line-chart2")
    rows = dashboard.hover_chart(chart, lambda said: "resumed" in said and ends_of(said) == {LAST})
    assert rows["resumed"][1:] == [f"{2 * 0.9 ** (STEPS - 1):.4}", LAST]
    # What diverged would stretch the axis to a thousand.
    ticks = chart.locator("text").all_text_contents()
    assert ticks
    assert max(map(float, ticks)) < DIVERGED / 10


def ends_of(said):
    """The steps that a tooltip tells."""
    return {step for _, _, step in said.values()}


@BOTH
def test_histograms(dashboard):
    dashboard.open("histograms")
    dashboard.expand("weights")
    for tag in ("gradients/hidden/weights", "predictions/digits", "weights/hidden/weights"):
        dashboard.wait_for_text("tf-histogram-loader, .tf-histogram-loader", tag)
    dashboard.wait_for("vz-histogram-timeseries .histogram path", 5 * STEPS)


def test_distributions(dashboard):
    dashboard.open("distributions")
    dashboard.wait_for_text("tf-distribution-loader", "predictions/digits")
    areas = dashboard.wait_for("vz-distribution-chart path.area", 3)
    assert all(path.count("L") >= STEPS for path in areas.evaluate_all("all => all.map(e => e.getAttribute('d'))"))


@BOTH
def test_images(dashboard):
    dashboard.open("images")
    dashboard.expand("weights")
    for tag, size in PICTURES.items():
        card = dashboard.wait_for_text("tf-image-loader", tag)
        picture = card.locator("img").first
        picture.scroll_into_view_if_needed()
        assert dashboard.until(lambda picture=picture: picture.evaluate("e => e.complete && e.naturalWidth > 0"))
        assert tuple(picture.evaluate("e => [e.naturalWidth, e.naturalHeight]")) == size
    source = card.locator("img").first.evaluate("e => e.src")
    movie = Image.open(io.BytesIO(dashboard.page.request.get(source).body()))
    assert (movie.format, movie.n_frames) == ("GIF", STEPS)


def test_audio(dashboard):
    dashboard.open("audio")
    dashboard.wait_for_text("tf-audio-loader", "sound/chord")
    player = dashboard.wait_for("audio").first
    assert dashboard.until(lambda: player.evaluate("e => e.readyState >= 1"))
    assert player.evaluate("e => e.duration") == pytest.approx(1.0, abs=0.01)


def test_text(dashboard):
    dashboard.open("text")
    dashboard.wait_for_text("tf-text-loader h3", NOTE.split("\n", 1)[0].removeprefix("### "))
    dashboard.wait_for_text("tf-text-loader td", "64 → 16")
    dashboard.wait_for_text("tf-text-loader", f"step {LAST}")


def expand_node(dashboard, scope, info):
    """Double-click a scope until TensorBoard says this of it."""
    said = dashboard.page.locator("tf-node-info").filter(has_text=info)
    dashboard.insist(lambda: dashboard.wait_for_text("g.node", scope).dblclick(), said)


def choose(dashboard, number, name):
    """Choose a graph, or the times of one, from one of the two menus beside it."""
    item = dashboard.page.locator("tf-graph-controls paper-item").filter(has_text=name)
    dashboard.insist(dashboard.wait_for("tf-graph-controls paper-dropdown-menu", 2).nth(number).click, item)
    item.filter(visible=True).first.click()


def show_compute_time(dashboard, said):
    """Have the graph's nodes colored by the time that they took."""
    radio = dashboard.wait_for_text("tf-graph-controls paper-radio-button", "Compute time")
    dashboard.insist(radio.click, dashboard.page.locator("tf-graph-controls").filter(has_text=said))


def test_graphs(dashboard):
    dashboard.open("graphs")
    for scope in {name.split("/")[0] for name, *_ in NODES}:
        dashboard.wait_for_text("g.node", scope)
    # What add_run_metadata logged: the time that each node took.
    choose(dashboard, 1, f"step {LAST}")
    slowest = sum(micros for name, *_, micros in NODES if name.startswith("train/"))
    show_compute_time(dashboard, f"{slowest} µs")
    inside = sum(micros for name, *_, micros in NODES if name.startswith("hidden/"))
    expand_node(dashboard, "hidden", f"{inside} µs")
    dashboard.wait_until_still(dashboard.wait_for_text("g.node g.node", "Tanh"))


def test_traced_graph(dashboard):
    """The example's network, drawn from its loss: a box for each scope, and what each call took."""
    dashboard.open("graphs")
    choose(dashboard, 0, TRACED)
    for scope in ("recurrent", "readout", "loss"):
        dashboard.wait_for_text("g.node", scope)
    choose(dashboard, 1, "first batch")
    show_compute_time(dashboard, "µs")
    expand_node(dashboard, "readout", "µs")
    dashboard.wait_until_still(dashboard.wait_for_text("g.node g.node", "MatMul"))


@BOTH
def test_hparams(dashboard, logged):
    dashboard.open("hparams")
    cells = dashboard.page.locator("vaadin-grid-cell-content").filter(visible=True)
    for run, metrics in logged[1].items():
        dashboard.wait_for_text("vaadin-grid-cell-content", run)
        for metric in metrics.values():
            dashboard.wait_for_text("vaadin-grid-cell-content", f"{metric:#.5g}")
    assert dashboard.until(lambda: (texts(cells).count("false"), texts(cells).count("true")) == (2, 1))
    # A bool can be filtered by.
    true = dashboard.wait_for_text("paper-checkbox", "true")
    for expected in (False, True):
        true.click()
        assert dashboard.until(lambda expected=expected: ("true" in texts(cells)) is expected)


def test_pr_curves(dashboard):
    dashboard.open("pr_curves")
    for tag in ("digit/eight", "digit/raw"):
        dashboard.wait_for_text("tf-pr-curve-card", tag)
    lines = dashboard.wait_for("tf-pr-curve-card path.line", 2)
    assert all(path.count("L") > 20 for path in lines.evaluate_all("all => all.map(e => e.getAttribute('d'))"))


def test_mesh(dashboard):
    dashboard.open("mesh")
    canvases = dashboard.wait_for("tf-mesh-loader canvas", 2)
    for i in range(2):
        assert dashboard.until(lambda i=i: dashboard.drawn(canvases.nth(i)) > 0.02)


def test_custom_scalars(dashboard):
    dashboard.open("custom_scalars")
    for chart in ("accuracy", "percentiles"):
        dashboard.wait_for_text("tf-custom-scalar-multi-line-chart-card", chart)
    dashboard.wait_for_text("tf-custom-scalar-margin-chart-card", "mean and spread")
    dashboard.wait_for("tf-custom-scalar-multi-line-chart-card path.line", 2 * len(SWEEP))
    dashboard.wait_for("tf-custom-scalar-margin-chart-card path.line", len(SWEEP))


def test_projector(dashboard):
    dashboard.open("projector")
    frame = dashboard.page.frame_locator("iframe").frame_locator("iframe")
    frame.get_by_text("activations:00030").first.wait_for(state="attached")  # in a list that may be closed
    for text in ("1 tensor found", "Points: 300", "Dimension: 16"):
        frame.get_by_text(text).first.wait_for()
    canvas = frame.locator("canvas").filter(visible=True).first
    assert dashboard.until(lambda: dashboard.ink(canvas) > 0.01)


@BOTH
def test_timeseries(dashboard, logged):
    dashboard.open("timeseries")
    row = dashboard.wait_for_text("scalar-card tb-data-table-content-row", f"{COMPLETE}/accuracy_test")
    assert dashboard.until(lambda: f"{logged[1][COMPLETE]['test/accuracy']:.4}" in row.inner_text())
    dashboard.wait_for_text("image-card", "digits/box").locator("img").wait_for()
    dashboard.wait_until_drawn(lambda: dashboard.wait_for("scalar-card line-chart").first)


def texts(cells):
    return [text.strip() for text in cells.all_inner_texts()]
