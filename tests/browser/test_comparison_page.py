"""The page of a comparison in Chromium: what it shows, what the pointer lights up, that no name does harm."""

import pytest
from browser.dashboard import TIMEOUT
from labelled import populations

from summaries import SummaryWriter, compare
from summaries.auditing.report.comparison_page import html

pytestmark = pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
ODD, LOST = "lr=0.001_bs=32/seed=1", "lr=0.01_bs=128/seed=2"
HOSTILE = "lr=<img src=x onerror=window.hacked=1>"


@pytest.fixture
def opened(browser, tmp_path, screenshots, request):
    """A function that opens the page of a comparison; at the end there was no error, no request, nothing was run."""
    context = browser.new_context(viewport={"width": 1400, "height": 1300})
    page = context.new_page()
    page.set_default_timeout(TIMEOUT * 1000)
    path, errors, requests = tmp_path / "comparison.html", [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda one: requests.append(one.url))

    def show(comparison):
        path.write_text(html(comparison), encoding="utf-8")
        page.goto(path.as_uri())
        page.locator("svg.curves path").first.wait_for()
        return page

    yield show
    page.screenshot(path=screenshots / f"{request.node.originalname.removeprefix('test_')}.png")
    hacked = page.evaluate("window.hacked")
    context.close()
    assert (errors, hacked, requests) == ([], None, [path.as_uri()])


def test_comparison_page(opened, tmp_path):
    populations.sweep(tmp_path / "runs", 0, odd=ODD, diverged=[LOST])
    page = opened(compare(tmp_path / "runs", good=["lr=0.001*"]))
    assert page.locator("#tally").inner_text().split("\n")[:2] == ["24 runs", "6 groups"]
    assert page.locator("svg.curves path").count() == 24
    assert page.locator("svg.strip").count() == 2
    assert page.locator("svg.strip >> nth=0").locator("circle").count() == 23
    assert page.locator("svg.strip >> nth=0").locator("path.diverged").count() == 1
    said = page.locator("ol.findings").inner_text()
    for text in ("Marked runs", "explains 6", "no effect is seen", "seeds disagree", f"{LOST}", "It diverged"):
        assert text in said
    page.locator("table").first.locator("tbody tr").first.hover()
    assert page.locator("svg.curves.dimmed path.lit").count() == 4
    page.locator("select").select_option("bs")
    assert page.locator(".legend").inner_text().split() == ["32", "128"]


def test_comparison_of_hostile_names(opened, tmp_path):
    for name in (HOSTILE, "lr=2"):
        with SummaryWriter(tmp_path / "runs" / name) as writer:
            for step in range(30):
                writer.add_scalar("loss", 1 / (1 + step), step)
    page = opened(compare(tmp_path / "runs"))
    assert page.locator("td.name").all_inner_texts() == ["lr=2", HOSTILE]
    assert page.locator("img").count() == 0
