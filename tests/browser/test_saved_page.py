"""The file that `gradledger view --output` writes, in Chromium without a network: the server's page, from its data."""

import re

import numpy as np
import pytest
from browser.dashboard import TIMEOUT, until

from summaries import SummaryWriter
from summaries.integrations.saved import saved_page

HOSTILE = "<_script><img src=x onerror=window.hacked=1>\u202etxt" + "long" * 50
TAG = "val/</script><script>window.hacked=1</script>\u202e"
STEPS = 3000
SPIKE = 1777


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("saved")
    for k, name in enumerate(("seed=0", "seed=1", HOSTILE)):
        with SummaryWriter(root / name) as writer:
            for step in range(STEPS):
                loss = (k + 1) * np.exp(-step / 500) + (50 if (k, step) == (0, SPIKE) else 0)
                writer.add_scalar("train/loss", loss, step, 1.79e9 + step)
            for step in range(0, STEPS, 100):
                writer.add_scalar(TAG, k, step, 1.79e9 + step)
    return str(root)


@pytest.fixture
def opened(browser, tmp_path, screenshots):
    """text → its page, from a file:// address, offline; there was no error on any, and nothing was asked for."""
    contexts, errors, asked = [], [], []

    def open_page(text, width=1400, theme="light"):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8", newline="\n")
        look = {"viewport": {"width": width, "height": 900}, "color_scheme": theme, "reduced_motion": "reduce"}
        contexts.append(browser.new_context(offline=True, accept_downloads=True, **look))
        page = contexts[-1].new_page()
        page.set_default_timeout(TIMEOUT * 1000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        page.locator(".overview tbody tr").first.wait_for()
        return page

    yield open_page
    hacked = [context.pages[0].evaluate("window.hacked") for context in contexts]
    for context in contexts:
        context.pages[0].screenshot(path=screenshots / f"saved_{len(contexts)}.png")
        context.close()
    assert errors == []
    assert set(hacked) <= {None}
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def wall(page, chosen=""):
    page.evaluate("hash => { location.hash = hash }", f"#/charts{chosen}")
    page.locator(".wall .uplot canvas").first.wait_for()
    return page.locator(".wall")


def test_the_table_and_a_run_with_its_findings(opened, runs):
    page = opened(saved_page([runs]))
    assert "This file has all 9,090 points of 2 tags." in page.locator("#kept").inner_text()
    assert page.locator(".overview tbody .name").last.inner_text() == "seed=1"
    page.get_by_role("link", name="seed=0").click()
    page.locator(".run .finding").first.wait_for()
    assert "1776" in page.locator(".finding").first.inner_text().replace(",", "")
    page.locator("button.rule").first.click()
    assert "loss" in page.locator("#rule article").inner_text()


def test_every_point_is_drawn_when_zoomed(opened, runs):
    page = opened(saved_page([runs]))
    figure = wall(page, "?tags=train").locator("figure").first
    assert "of 9,000 points" in figure.locator(".thinned").inner_text()
    box = figure.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + (SPIKE - 15) / STEPS * box["width"], box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + (SPIKE + 15) / STEPS * box["width"], box["y"] + 90, steps=4)
    page.mouse.up()
    wait = lambda seconds: page.wait_for_timeout(1000 * seconds)  # noqa: E731
    assert until(lambda: figure.locator(".thinned").inner_text() == "", wait)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    said = figure.locator(".readout").inner_text()
    step = int(re.search(r"step ([\d,]+)", said)[1].replace(",", ""))
    assert abs(step - SPIKE) <= 2


def test_a_thinned_file_says_so_and_keeps_the_spike(opened, runs):
    page = opened(saved_page([runs], most_points=300))
    assert re.search(r"This file has \d+ of 9,090 points .* least and the largest", page.locator("#kept").inner_text())
    figure = wall(page, "?tags=train&runs=seed%3D0").locator("figure").first
    assert re.search(r"\d+ of 3,000 points", figure.locator(".thinned").inner_text())
    box = figure.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + SPIKE / STEPS * box["width"], box["y"] + 60)
    said = figure.locator(".readout").inner_text()
    assert float(re.search(r"seed=0\s*([\d.]+)", said)[1]) == pytest.approx(50 + np.exp(-SPIKE / 500), rel=1e-2)


def test_means_smoothing_and_search_without_a_server(opened, runs):
    page = opened(saved_page([runs]))
    where = wall(page, "?tags=train&runs=seed&over=%2Fseed%3D.%2F&smooth=0.5")
    assert "all: 2 runs" in where.inner_text()
    page.locator(".readout b").first.wait_for()
    last = 1.5 * np.exp(-(STEPS - 1) / 500)
    assert float(page.locator(".readout b").first.inner_text()) == pytest.approx(last, rel=1e-2)
    page.get_by_label("Tags that match").fill("/^val/")
    assert where.locator("h3").all_text_contents() == [TAG]


def test_what_the_file_lacks_is_said(opened, runs):
    page = opened(saved_page([runs]))
    page.evaluate("location.hash = '#/run/seed%3D0/layers'")
    page.locator("main .sorry").wait_for()
    assert "gradledger view, on the runs, shows the rest" in page.locator("main").inner_text()


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (360, "dark")])
def test_it_fits(opened, runs, width, theme):
    page = opened(saved_page([runs]), width, theme)
    fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert page.evaluate(fits)
    wall(page)
    assert page.evaluate(fits)
