"""Runs, series and reports in JupyterLab, in light and in dark: what is shown, and that no name in it is markup."""

import pytest
from audits.reports import HOSTILE_TAG
from browser.notebook import THEMES, Notebook, serve_lab, write_notebook

pytest.importorskip("jupyterlab", reason="needs JupyterLab: make notebook")

CELLS = (
    "%matplotlib inline\nfrom notebook_runs import *\nruns = write('runs')",
    "runs",
    "run = runs['diverged']\nrun",
    "run.scalars['train/loss']",
    "report = audit('runs')\nreport",
    "report.show(height=640)",
    "run.images['samples'].at(100)",
    "run.plot('*loss', smoothing=0.8);",
    "step_report()",
    "try:\n    run.scalars['los']\nexcept KeyError as error:\n    print(error)",
)
RUNS, RUN, SERIES, REPORT, PAGE, IMAGE, PLOT, STEP, NEAREST = range(1, len(CELLS))
PROGRAM = """
import numpy as np
from optim import AdamOptimizer, StepReport, Variable, VariableReports, clip_gradients_by_norm
from summaries import SummaryWriter, audit, read_logdir

def write(place):
    rng = np.random.default_rng(3)
    for number, name in enumerate(("baseline", "diverged", "<b>bold</b>")):
        with SummaryWriter(f"{place}/{name}") as writer:
            for step in range(0, 2000, 4):
                loss = 2.3 * np.exp(-step / 500) + 0.2 + 0.02 * rng.standard_normal()
                if name == "diverged" and step > 1500:
                    loss = np.nan if step > 1600 else loss * 1.1 ** ((step - 1500) / 4)
                writer.add_scalar("train/loss", loss, step)
                writer.add_scalar("val/loss", loss * 1.1 + 0.05, step)
                writer.add_scalar("train/learning_rate", 1e-3 * min(1, step / 200), step)
                writer.add_scalar("gradients/global_norm", rng.lognormal(0, 0.3), step)
                writer.add_scalar(HOSTILE_TAG, step % 7, step)
            for step in (0, 100):
                writer.add_image("samples", np.linspace(0, 1, 3 * 64 * 96).reshape(3, 64, 96), step)
            writer.add_histogram("weights", rng.standard_normal(100), 0)
    return read_logdir(place)

def step_report():
    stats = np.array([[25.0, 100.0, 1.0, 2.0, 0.0], [4.0, 9.0, 0.25, 0.0, 1.0]])
    reports = VariableReports(["encoder/<i>weights</i>", "encoder/bias"], [1200, 30], [], stats)
    return StepReport(12, 0.001, 5.385, 1.0, True, 1, False, reports, 0.25)
"""


@pytest.fixture(scope="module", params=THEMES)
def notebook(request, browser, tmp_path_factory):
    """A notebook whose cells were run, in JupyterLab's light theme and in the dark one."""
    root = tmp_path_factory.mktemp(request.param)
    (root / "notebooks").mkdir()
    write_notebook(root / "notebooks" / "runs.ipynb", CELLS)
    (root / "notebooks" / "notebook_runs.py").write_text(f"HOSTILE_TAG = {HOSTILE_TAG!r}\n{PROGRAM}", encoding="utf-8")
    with serve_lab(root / "notebooks", root, request.param) as address:
        context = browser.new_context(viewport={"width": 1400, "height": 1000}, color_scheme="null")
        yield Notebook(context.new_page(), address, "runs.ipynb", len(CELLS), request.param)
        context.close()


@pytest.fixture
def shot(notebook, screenshots, request):
    """Cell → its output, of which a picture is kept."""

    def output(number):
        found = notebook.output(number)
        name = request.node.name.removeprefix("test_").replace("[", "-").rstrip("]")
        found.screenshot(path=screenshots / f"notebook_{name}_{number}.png")
        return found

    return output


def test_tables(notebook, shot):
    """Each has its rows, a line for each series, and the names as text."""
    runs, run, series = shot(RUNS), shot(RUN), shot(SERIES)
    assert runs.locator("tbody tr td:first-child").all_inner_texts() == ["<b>bold</b>", "baseline", "diverged"]
    assert runs.locator(".gradledger svg:has(path)").count() == 3
    assert HOSTILE_TAG in run.locator("tbody tr td:first-child").all_inner_texts()
    assert run.locator("svg .odd").count() == 2
    assert "images: samples" in run.inner_text()
    assert series.locator("tbody tr").count() == 1
    assert shot(STEP).locator(".bar").count() == 2
    assert notebook.page.evaluate("window.hacked") is None
    assert notebook.errors == []


def test_report(notebook, shot):
    """The table has the findings; the frame has the page, whose links lead to its runs and not to another notebook."""
    assert "GL301" in shot(REPORT).inner_text()
    output = shot(PAGE)
    page = output.frame_locator("iframe")
    page.locator("tbody tr").first.wait_for()
    brightness = notebook.brightness(output.locator("iframe"))
    assert brightness > 200 if notebook.theme == "light" else brightness < 60
    page.locator("tbody th.name a", has_text="diverged").click()
    page.locator(".run canvas").first.wait_for()
    shot(PAGE)
    assert notebook.page.url.endswith("runs.ipynb")
    assert notebook.errors == []


def test_pictures(notebook, shot):
    for number in (IMAGE, PLOT):
        image = shot(number).locator("img")
        image.wait_for()
        assert image.evaluate("image => image.naturalWidth") >= 96
    assert shot(NEAREST).inner_text().strip() == "no scalars are tagged 'los'; did you mean 'val/loss' or 'train/loss'?"
