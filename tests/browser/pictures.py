"""Take README's pictures and figures anew, from one fresh run of the demo: `make pictures`."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from browser.dashboard import TIMEOUT, Dashboard, chromium_path, launch, serve, until
from browser.plugin_page import PluginPage
from browser.tour import take_tour
from helpers import ROOT

from summaries import read_run

IMAGES = ROOT / "examples/images"
README = ROOT / "README.md"
LOGDIR = Path("runs/sequential_digits")  # relative: TensorBoard shows it on its page
RUNS = ("clipped", "unclipped")
BEGIN, END = "<!-- figures: `make pictures` writes these lines -->", "<!-- end of figures -->"
TEST_DIGITS = 360
# The views of our page in TensorBoard; the unclipped run explodes at about step 120.
VIEWS = {
    "runs": "",
    "findings": "#/run/unclipped",
    "layers": "#/run/unclipped/layers",
    "pair": "#/pair/unclipped?with=clipped",
    "clipping": "#/run/unclipped/clipping",
}
SIZES = {"wide": (1400, 860), "narrow": (700, 860)}


def figures(logdir):
    """What README says of the demo's two runs, as their event files have it."""
    right = {name: round(TEST_DIGITS * _last(logdir, name, "test/accuracy")) for name in RUNS}
    norm = read_run(logdir / "unclipped").scalars["gradients/global_norm"].value
    usual, most = np.median(norm[:10]), norm.max()
    clipped, unclipped = (f"{right[name]} of {TEST_DIGITS} test digits" for name in RUNS)
    return (
        f"In the pictures, the clipped network reads {clipped}, the unclipped one {unclipped}.\n"
        f"The norm of the unclipped gradient has a median of {usual:.2g} in the first ten steps, "
        f"and is {most:.3g} at most.\n"
    )


def with_figures(readme, text):
    """README's text with these figures in place of the old ones."""
    pattern = re.compile(f"{re.escape(BEGIN)}\n.*?{re.escape(END)}", re.DOTALL)
    if len(pattern.findall(readme)) != 1:
        raise ValueError(f"README.md must have one {BEGIN!r} and one {END!r} after it")
    return pattern.sub(lambda _: f"{BEGIN}\n{text}{END}", readme)


def main():
    """Run the demo, photograph its pages, and write its figures into README.md."""
    from playwright.sync_api import sync_playwright

    if chromium_path() is None:
        sys.exit("make pictures needs Chromium: apt-get install chromium-headless-shell")
    with TemporaryDirectory() as directory, chdir(directory), sync_playwright() as playwright:
        _make_runs()
        browser = launch(playwright.chromium)
        _take_audit(browser)
        take_tour(browser, LOGDIR, IMAGES / "tour.png")
        with serve(LOGDIR, "python", dict.fromkeys(RUNS, "test/accuracy")) as address:
            _wait_until_all_is_loaded(address)
            _take_time_series(browser, address)
            _take_plugin(browser, address)
        browser.close()
        text = figures(LOGDIR)
    README.write_text(with_figures(README.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(text, end="")


def _last(logdir, name, tag):
    return float(read_run(logdir / name).scalars[tag].value[-1])


def _make_runs():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    demo = [sys.executable, ROOT / "examples/sequential_digits.py", "--logdir", LOGDIR]
    subprocess.run(demo, check=True, env=environment)
    audit = [sys.executable, "-m", "summaries", "audit", LOGDIR, "--format", "html", "--output", "audit.html"]
    status = subprocess.run(audit, check=False, env=environment).returncode
    assert status == 1, f"the audit must find an error in the unclipped run, got exit status {status}"


def _wait_until_all_is_loaded(address):
    """`serve` waits for every tag; a picture needs every point, too."""
    last = {name: int(read_run(LOGDIR / name).scalars["train/loss"].step[-1]) for name in RUNS}

    def loaded(name):
        query = f"run={name}&tag=train%2Floss"
        with urllib.request.urlopen(f"{address}/data/plugin/scalars/scalars?{query}", timeout=TIMEOUT) as answer:  # noqa: S310 - our own server
            return json.load(answer)[-1][1] == last[name]

    assert until(lambda: all(map(loaded, RUNS))), f"TensorBoard did not load all points of {LOGDIR}"


def _page(browser, width, height, scheme="light"):
    return browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", color_scheme=scheme)


def _take_audit(browser):
    page = _page(browser, 1400, 1105)
    page.goto(f"{Path('audit.html').absolute().as_uri()}#/{RUNS.index('unclipped')}")
    page.locator("main > section").wait_for()
    page.locator("figure canvas").first.wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=IMAGES / "audit.png")
    page.close()


def _take_time_series(browser, address):
    """Four charts; the gradients' on a logarithmic axis with outliers, since those are what it is about."""
    dashboard = Dashboard(_page(browser, 1280, 860), address)
    tags = "gradients%2Fglobal_norm%7Ctest%2Faccuracy%7Ctrain%2Floss%7Cclipped_fraction"
    dashboard.page.goto(f"{address}/?tagFilter={tags}&smoothing=0#timeseries")
    for setting in ("Enable step selection and data table", "Ignore outliers in chart scaling"):
        dashboard.wait_for_text("mat-checkbox", setting).locator("input").uncheck()
    dashboard.wait_for_text("button", "Settings").click()  # the panel takes the charts' room
    dashboard.wait_for_text("scalar-card", "gradients/clipped_fraction")  # its one run is too grey for `drawn`
    for tag in ("gradients/global_norm", "test/accuracy", "train/loss"):
        card = dashboard.wait_for_text("scalar-card", tag)
        if tag != "test/accuracy":
            card.get_by_label("More line chart options").click()
            dashboard.wait_for_text("button", "Toggle Y-axis log scale").click()
        chart = card.locator("line-chart")
        assert dashboard.until(lambda chart=chart: dashboard.drawn(chart) > 0.001), tag
    dashboard.page.evaluate("document.querySelectorAll('*').forEach((element) => { element.scrollTop = 0; })")
    _shoot(dashboard, "tensorboard.png")


def _take_plugin(browser, address):
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            page = PluginPage(_page(browser, width, height, scheme), address)
            for name, at in VIEWS.items():
                frame = page.open(at)
                assert page.until(lambda frame=frame: frame.locator("#tally .state").count() == 0)
                page.page.mouse.move(0, 0)
                page.page.wait_for_timeout(1500)  # until all is drawn
                page.page.screenshot(path=IMAGES / f"plugin-{name}-{size}-{scheme}.png")
            assert page.errors == []
            page.page.close()


def _shoot(dashboard, name):
    dashboard.page.mouse.move(0, 0)
    dashboard.page.wait_for_timeout(3000)  # until nothing moves
    dashboard.page.screenshot(path=IMAGES / name)
    assert dashboard.errors == []
    dashboard.page.close()


if __name__ == "__main__":
    main()
