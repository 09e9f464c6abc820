"""gradledger view in Chromium: the wall of charts, of many runs, of one that grows, of hostile names."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from browser.dashboard import box_of
from browser.viewing import address, looking, open_wall, serving, soon, values, written, zoom, zoomed
from PIL import Image

from summaries import SummaryWriter

HOSTILE = "<img src=x onerror=window.hacked=1>"
STEPS = 3000
SPIKE = 1777  # a step of the run a, with a value that thinning must keep


def write_runs(root):
    for k, name in enumerate(("a", "b", f"sweep {HOSTILE}")):
        with SummaryWriter(root / name) as writer:
            for step in range(STEPS):
                loss = (k + 1) * np.exp(-step / 500) + (50 if (name, step) == ("a", SPIKE) else 0)
                writer.add_scalar("train/loss", loss, step, 1.79e9 + step)
                if step % 100 == 0:
                    writer.add_scalar("val/loss", loss + 0.1, step, 1.79e9 + step)
                    writer.add_scalar(f"val/{HOSTILE}", k, step, 1.79e9 + step)
            for i in range(60):
                writer.add_scalar(f"layers/{i:02d}", i, 0, 1.79e9)
    return root


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("viewer"))


@pytest.fixture(scope="module")
def viewer(logdir):
    with serving(logdir) as viewer:
        yield viewer


@pytest.fixture
def page(browser, viewer, screenshots, request):
    picture = screenshots / f"viewer_{request.node.originalname.removeprefix('test_')}.png"
    with looking(browser, viewer, 3, picture) as page:
        yield page


def test_a_link_with_the_token_shows_no_token(page):
    assert "token" not in address(page)
    page.get_by_role("link", name="All charts").click()
    page.locator(".wall").wait_for()
    assert address(page).endswith("#/charts")


def test_the_wall(page):
    wall = open_wall(page)
    assert "63 of 63 tags, 3 of 3 runs" in wall.inner_text()
    groups = wall.locator(".further > summary").all_inner_texts()
    assert [one.split(" (")[0] for one in groups] == ["train", "val", "layers"]
    where, said = values(wall.locator("figure").first)
    assert where == "last"
    last = np.exp(-(STEPS - 1) / 500)
    assert list(said.values()) == pytest.approx([3 * last, 2 * last, last], rel=1e-2)
    assert [name[:1] for name in said] == ["s", "b", "a"]


def test_search_by_text_and_by_pattern(page):
    wall = open_wall(page)
    search = page.get_by_label("Tags that match")
    search.fill("LOSS")
    assert soon(page, lambda: wall.locator("h3").all_inner_texts() == ["train/loss", "val/loss"])
    search.fill("/^val/")
    assert soon(page, lambda: wall.locator("h3").all_inner_texts() == ["val/loss", f"val/{HOSTILE}"])
    assert "tags=%2F%5Eval%2F" in address(page)
    search.fill("/(/")
    assert "Unterminated group" in search.get_attribute("title")
    assert wall.locator("h3").count() == 2  # as before
    page.get_by_label("Runs that match").fill("a")
    search.fill("nothing like it")
    assert soon(page, lambda: "No tag matches." in wall.inner_text())
    page.reload()
    assert soon(page, lambda: "0 of 63 tags" in page.locator(".wall").inner_text())


def test_a_zoom_fetches_what_lies_in_it(page):
    wall = open_wall(page, tags="train")
    figure = wall.locator("figure").first
    assert "of 9,000 points" in figure.locator(".thinned").inner_text()
    plot = figure.locator(".plot")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/curves?" in request.url else None)
    box = box_of(plot.locator(".u-over"))
    at = [box["x"] + (SPIKE + aside) / STEPS * box["width"] for aside in (-20, 20)]
    page.mouse.move(at[0], box["y"] + 90)
    page.mouse.down()
    page.mouse.move(at[1], box["y"] + 90, steps=4)
    page.mouse.up()
    assert soon(page, lambda: asked)
    low, high = (float(re.search(rf"{end}=([\d.]+)", asked[-1])[1]) for end in ("from", "to"))
    assert SPIKE - 40 < low < SPIKE < high < SPIKE + 40
    assert soon(page, lambda: figure.locator(".thinned").inner_text() == "")
    page.get_by_role("button", name="Show all steps").click()
    assert soon(page, lambda: "points" in figure.locator(".thinned").inner_text())


def test_a_zoom_of_a_run_fetches_what_lies_in_it(page):
    page.evaluate("location.hash = '#/run/a'")
    figure = page.locator(".run figure.lines").first
    plot = figure.locator(".plot")
    plot.locator("canvas").first.wait_for()
    thinned = figure.locator(".thinned")
    assert "points" in thinned.inner_text()
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/curves?" in request.url else None)
    box = box_of(plot.locator(".u-over"))
    at = [box["x"] + (1000 + aside) / STEPS * box["width"] for aside in (-20, 20)]
    page.mouse.move(at[0], box["y"] + 90)
    page.mouse.down()
    page.mouse.move(at[1], box["y"] + 90, steps=4)
    page.mouse.up()
    assert soon(page, lambda: not thinned.is_visible())
    assert [re.search("tag=([^&]+)", one)[1] for one in asked] == ["train%2Floss"]  # val/loss has all of its points
    middle = box["x"] + box["width"] / 2
    steps = set()
    for aside in np.arange(0, 60, 2):  # every step is there, of which 3,000 have no pixel of their own
        page.mouse.move(middle + aside, box["y"] + 60)
        steps.add(figure.locator(".u-legend .u-value").first.inner_text())
    said = sorted(int(one.replace(",", "")) for one in steps)
    assert len(said) > 2
    assert said == list(range(said[0], said[-1] + 1))
    page.get_by_role("button", name="Whole run").click()
    assert soon(page, thinned.is_visible)


def test_a_zoom_keeps_its_points_when_nobody_answers(browser, viewer, screenshots):
    picture = screenshots / "viewer_zoom_without_an_answer.png"
    with looking(browser, viewer, 3, picture, allowed="ERR_FAILED") as page:
        page.evaluate("location.hash = '#/run/a'")
        figure = page.locator(".run figure.lines").first
        figure.locator(".plot canvas").first.wait_for()
        page.route("**/data/curves?*", lambda route: route.abort())
        with page.expect_event("requestfailed"):
            figure.locator(".plot").press("+")
        assert "points" in figure.locator(".thinned").inner_text()
        assert figure.locator(".plot canvas").count() > 0


def test_the_crosshair_reads_all_runs(page):
    figure = open_wall(page, tags="val/loss").locator("figure").first
    box = box_of(figure.locator(".u-over"))
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    assert soon(page, lambda: values(figure)[0].startswith("step"))
    where, said = values(figure)
    step = int(where.removeprefix("step ").replace(",", ""))
    nearest = min(range(0, STEPS, 100), key=lambda one: abs(one - step))
    wanted = [(k + 1) * np.exp(-nearest / 500) + 0.1 for k in (2, 1, 0)]
    assert list(said.values()) == pytest.approx(wanted, rel=1e-2)  # the largest first


def test_smoothing(page):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/curves?" in request.url else None)
    wall = open_wall(page, tags="train", smooth="0.9")
    assert page.locator("#smooth").input_value() == "0.9"
    assert "smooth=0.9" in asked[-1]
    figure = wall.locator("figure").first
    both = figure.screenshot()
    page.locator("#smooth").fill("0")
    assert soon(page, lambda: "smooth=0&" in f"{asked[-1]}&" and figure.screenshot() != both)
    assert "smooth" not in address(page)


def test_the_mean_of_runs_that_are_alike(page):
    wall = open_wall(page, tags="val/loss", runs="/^[ab]$/")
    page.get_by_label("Mean over").fill("/[ab]/")
    page.locator(".wall .runs", has_text="all: 2 runs").wait_for()
    assert soon(page, lambda: list(values(wall.locator("figure").first)[1]) == ["all"])
    last = np.exp(-(STEPS - 100) / 500)
    assert values(wall.locator("figure").first)[1]["all"] == pytest.approx(1.5 * last + 0.1, rel=1e-2)
    assert "over=%2F%5Bab%5D%2F" in address(page)
    assert page.get_by_role("button", name="Time", exact=True).is_disabled()  # means lie over steps
    page.get_by_label("Mean over").fill("")
    page.get_by_role("button", name="Time", exact=True).click()
    assert "x=time" in address(page)


def test_what_is_saved_of_a_chart(page, logdir):
    figure = open_wall(page, tags="train", runs="/^[ab]$/").locator("figure").first
    figure.get_by_label("Save train/loss").click()
    with page.expect_download() as saving:
        figure.get_by_role("button", name="CSV").click()
    assert saving.value.suggested_filename == "train_loss.csv"
    assert soon(page, lambda: "Saved train_loss.csv" in figure.inner_text())
    rows = list(csv.reader(Path(saving.value.path()).read_text(encoding="utf-8").splitlines()))
    assert rows[0] == ["run", "tag", "step", "seconds", "value"]
    points = [row for row in rows[1:] if row[0] == "a"]
    assert [int(row[2]) for row in points] == list(range(STEPS))  # every one, though fewer are drawn
    assert float(points[SPIKE][4]) == float(np.float32(np.exp(-SPIKE / 500) + 50))
    with page.expect_download() as saving:
        figure.get_by_role("button", name="SVG").click()
    drawn = ET.parse(saving.value.path()).getroot()  # noqa: S314 - our own
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"train/loss", "a", "b", "0", "1,000"} <= set(texts)
    with page.expect_download() as saving:
        figure.get_by_role("button", name="PNG").click()
    with Image.open(saving.value.path()) as image:
        assert image.size[0] == 1600
        assert len(image.convert("RGB").getcolors(1 << 20)) > 3


def test_hostile_names_are_saved_as_text(page):
    figure = open_wall(page, tags="/img/").locator("figure").first
    figure.locator(".save summary").click()
    with page.expect_download() as saving:
        figure.get_by_role("button", name="SVG").click()
    root = ET.parse(saving.value.path()).getroot()  # noqa: S314 - our own
    assert f"val/{HOSTILE}" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert all(one.tag.rpartition("}")[2] != "img" for one in root.iter())


def test_a_zoom_is_undone_and_a_link_has_it(page):
    figure = open_wall(page, tags="train").locator("figure").first
    zoom(page, figure, 0.2, 0.8)
    first = zoomed(page)
    assert first == pytest.approx([0.2 * STEPS, 0.8 * STEPS], rel=0.05)
    zoom(page, figure, 0.4, 0.6)
    second = zoomed(page)
    assert first[0] < second[0] < second[1] < first[1]
    page.reload()
    page.locator(".wall .uplot canvas").first.wait_for()
    assert zoomed(page) == second
    assert page.get_by_role("button", name="Show all steps").is_visible()
    zoom(page, figure, 0.4, 0.6)
    page.get_by_role("button", name="Undo zoom").click()
    assert zoomed(page) == second
    assert page.get_by_role("button", name="Undo zoom").is_hidden()
    page.get_by_role("button", name="Zoom out").click()
    figure.locator(".plot").focus()
    page.keyboard.press("Control+z")
    assert zoomed(page) == second
    page.get_by_role("button", name="Show all steps").click()
    assert zoomed(page) == []


def test_ticks_of_a_zoom_are_told_apart(browser, tmp_path, screenshots):
    first = 123_400  # all steps here are 123.4k in four digits
    with SummaryWriter(tmp_path / "long") as writer:
        for step in range(50):
            writer.add_scalar("loss", 1e6 + step % 2, first + step, 1.79e9 + 86400 * (step > 0) + step)
    with serving(tmp_path) as viewer, looking(browser, viewer, 1, screenshots / "viewer_ticks.png") as page:
        figure = open_wall(page).locator("figure").first
        texts = written(page)
        zoom(page, figure, 0.2, 0.3)
        page.get_by_role("button", name="Zoom in").click()
        steps = set()
        assert soon(page, lambda: steps.update(text for text in texts() if text.startswith("123")) or len(steps) > 1)
        assert all(re.fullmatch(r"123,4\d\d", text) for text in steps)  # whole steps, each with all its digits
        open_wall(page, x="time", **{"from": 86_410, "to": 86_415})
        assert soon(page, lambda: {"1 d 0 h 0 min 10 s", "…11 s", "…12 s"} <= set(texts()))  # not all "1 d"


def test_a_chart_that_no_chosen_run_has_says_so(page):
    wall = open_wall(page, tags="/img/")
    page.get_by_label("Runs that match").fill("nothing like it")
    assert soon(page, lambda: wall.locator(".plot").all_inner_texts() == ["None of these runs has this tag."])
    page.get_by_label("Runs that match").fill("")
    assert soon(page, lambda: wall.locator("figure .uplot canvas").count() == 1)


def test_pins_stay_above_and_in_the_link(page):
    wall = open_wall(page)
    wall.get_by_role("button", name="Pin val/loss", exact=True).click()
    assert soon(page, lambda: wall.locator("h2").all_inner_texts() == ["Pinned"])
    page.reload()
    page.locator(".wall h2").wait_for()
    assert wall.locator("h3").first.text_content() == "val/loss"
    pin = wall.get_by_role("button", name="Pin val/loss", exact=True)
    assert pin.get_attribute("aria-pressed") == "true"
    pin.click()
    assert soon(page, lambda: wall.locator("h2").count() == 0)
    assert "pins" not in address(page)


def test_axes_and_outliers(page):
    figure = open_wall(page, tags="train", runs="/^a$/", y="asinh").locator("figure").first
    figure.get_by_label("Save train/loss").click()

    def ticks():
        with page.expect_download() as saving:
            figure.get_by_role("button", name="SVG").click()
        root = ET.parse(saving.value.path()).getroot()  # noqa: S314 - our own
        return [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]

    assert {"0.1", "1", "10"} <= set(ticks())
    page.get_by_role("button", name="Linear").click()
    assert soon(page, lambda: "50" in ticks())
    page.get_by_role("button", name="Clip outliers").click()
    assert soon(page, lambda: "50" not in ticks())
    assert "clip=1" in address(page)
    page.get_by_role("button", name="Log x").click()
    page.locator(".wall .uplot canvas").first.wait_for()
    figure = page.locator(".wall figure").first
    figure.get_by_label("Save train/loss").click()
    assert {"1", "10", "100", "1,000"} <= set(ticks())
    page.get_by_role("button", name="Asinh").click()
    page.screenshot()


def test_a_run_that_grows_and_one_that_comes(browser, tmp_path, screenshots):
    write_runs(tmp_path)
    picture = screenshots / "viewer_a_run_that_grows_and_one_that_comes.png"
    with serving(tmp_path) as viewer, looking(browser, viewer, 3, picture) as page:
        wall = open_wall(page, tags="val/loss")
        figure = wall.locator("figure").first
        asked = []
        page.on("request", lambda request: asked.append(request.url) if "/data/tags" in request.url else None)
        with SummaryWriter(tmp_path / "a") as writer:
            writer.add_scalar("val/loss", 77.0, STEPS, 1.79e9 + STEPS)
        grown = lambda: 77.0 in values(wall.locator("figure").first)[1].values()  # noqa: E731
        assert soon(page, grown)
        assert figure.count() == 1
        texts = written(page)
        for step in range(STEPS, 2 * STEPS, 500):
            with SummaryWriter(tmp_path / "a") as writer:
                writer.add_scalar("val/loss", 66.0, step + 500, 1.79e9 + step)
        assert soon(page, lambda: "6,000" in texts())  # the axis grows as well
        assert asked == []  # there is no other tag
        with SummaryWriter(tmp_path / "a") as writer:
            writer.add_scalar("val/loss/new", 1.0, 2 * STEPS, 1.79e9 + 2 * STEPS)
        assert soon(page, lambda: "val/loss/new" in wall.locator("h3").all_inner_texts())
        assert len(asked) == 1
        with SummaryWriter(tmp_path / "z") as writer:
            writer.add_scalar("val/loss", 88.0, STEPS, 1.79e9 + STEPS)
        came = lambda: 88.0 in values(wall.locator("figure").first)[1].values()  # noqa: E731
        assert soon(page, came)


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (420, "dark")])
def test_it_fits(page, screenshots, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 1000})
    wall = open_wall(page, tags="/loss|0/")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert box_of(wall.locator("figure").first)["width"] <= width
    page.screenshot(path=screenshots / f"viewer_{width}_{theme}.png")


def test_other_sites_and_other_ports_see_nothing(browser, viewer):
    page = browser.new_page()
    answer = page.goto(viewer.address.split("?")[0])
    assert (answer.status, page.inner_text("body")) == (
        403,
        "open the link that gradledger view printed: it has a token\n",
    )
    page.close()


def test_a_tab_that_nobody_sees_keeps_no_connection(page):
    waits = []
    page.on(
        "request", lambda request: waits.append(request.url.partition("wait=")[2]) if "/runs?" in request.url else None
    )
    assert soon(page, lambda: "5" in waits)
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true})")
    assert soon(page, lambda: waits[-1] == "0")
