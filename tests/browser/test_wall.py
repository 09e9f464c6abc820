"""The wall of charts of gradledger view: what each chart shows of runs that end, and in which colors."""

import io
import re

import numpy as np
import pytest
from browser.dashboard import box_of
from browser.viewing import looking, open_wall, serving, soon, values, zoom, zoomed
from PIL import Image

from summaries import SummaryWriter


def test_each_chart_shows_its_own_steps_until_somebody_zooms(browser, tmp_path, screenshots):
    for name, steps in (("long", 100_000), ("short", 100)):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(0, steps, steps // 100):
                writer.add_scalar(f"loss/{name}", step % 7, step, 1.79e9 + step)
    with serving(tmp_path) as viewer, looking(browser, viewer, 2, screenshots / "viewer_own_steps.png") as page:
        long, short = open_wall(page).locator("figure").all()
        short.locator(".uplot canvas").wait_for()

        def point(figure, share):
            box = box_of(figure.locator(".u-over"))
            page.mouse.move(box["x"] + share * box["width"], box["y"] + 90)

        assert soon(page, lambda: point(short, 0.5) or values(short)[0] in {"step 49", "step 50"})
        assert values(long)[0] == "step 0"  # near there, too
        assert soon(page, lambda: point(long, 0.5) or values(long)[0] in {"step 49,000", "step 50,000"})
        assert values(short)[0] == "last"  # the crosshair is not in its range
        zoom(page, short, 0.2, 0.4)
        assert zoomed(page) == pytest.approx([0.2 * 99, 0.4 * 99], abs=2)
        assert soon(page, lambda: point(long, 0.5) or values(long)[0] == "step 0")  # a zoom is everybody's
        page.get_by_role("button", name="Show all steps").click()
        assert soon(page, lambda: point(long, 0.5) or values(long)[0] in {"step 49,000", "step 50,000"})
        assert soon(page, lambda: point(short, 0.5) or values(short)[0] in {"step 49", "step 50"})
        short.locator(".plot").focus()
        page.keyboard.press("+")
        assert zoomed(page) == pytest.approx([0.25 * 99, 0.75 * 99], abs=2)  # of what it showed
        with SummaryWriter(tmp_path / "short") as writer:
            writer.add_scalar("loss/short", 9.0, 200, 1.79e9 + 200)
        page.get_by_role("button", name="Show all steps").click()
        assert soon(page, lambda: point(short, 0.97) or values(short)[0] == "step 200")


def test_a_run_has_its_color_whatever_else_is_shown(browser, tmp_path, screenshots):
    for name in ("a", "b", "c"):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("train/loss", 1.0, 1)
    with serving(tmp_path) as viewer, looking(browser, viewer, 3, screenshots / "wall_colors.png") as page:
        see_colors(page)


def see_colors(page):
    def colors(**chosen):
        wall = open_wall(page, tags="train", **chosen)
        items = wall.locator(".runs li")
        shown = items.evaluate_all("items => items.map(li => getComputedStyle(li, '::before').backgroundColor)")
        return dict(zip([one.strip()[:1] for one in items.all_inner_texts()], shown, strict=True))

    everything = colors()
    assert len(set(everything.values())) == 3
    page.reload()
    only = colors(runs="b")
    assert only == {"b": everything["b"]}
    page.goto(page.url.split("#")[0] + "#/media")
    page.locator(".media").wait_for()
    groups = colors(over="a")
    assert groups != {}
    page.reload()
    assert colors(over="a", runs="b") == {"b": groups["b"]}


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
def test_a_run_that_ended_has_no_value_after_that(browser, tmp_path, screenshots):
    for name, steps in (("longest", 10_000), ("short", 100), ("broken", 10_000), ("also", 10_000)):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(0, steps, 10):
                value = float("nan") if (name, step > 500) == ("broken", True) else steps + len(name)
                writer.add_scalar("loss", value, step, 1.79e9 + step)
    with serving(tmp_path) as viewer, looking(browser, viewer, 4, screenshots / "viewer_ended.png") as page:
        figure = open_wall(page).locator("figure").first
        names = figure.locator(".readout bdi")
        assert names.all_inner_texts() == ["longest", "also", "short", "broken"]  # what is no number comes last
        box = box_of(figure.locator(".u-over"))
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
        assert soon(page, lambda: set(names.all_inner_texts()) == {"longest", "also", "broken"})
        step = re.fullmatch(r"step ([\d,]+)", figure.locator(".readout .at").inner_text())[1]
        assert int(step.replace(",", "")) % 10 == 0  # a step that there is
        page.mouse.move(box["x"] + 0.002 * box["width"], box["y"] + 60)
        assert soon(page, lambda: "short" in names.all_inner_texts())
        zoom(page, figure, 0.3, 0.4)
        page.mouse.move(1, 1)
        assert soon(page, lambda: figure.locator(".readout .at").inner_text() == "last in sight")
        page.get_by_label("Mean over").fill("/[a-z]+/")
        assert soon(page, lambda: "(2 of 4 runs)" in figure.locator(".readout").inner_text())  # the others are over


def test_charts_stay_while_runs_are_added(browser, tmp_path, screenshots):
    def log(name):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(10):
                writer.add_scalar("loss", len(name) + step, step)

    log("a")
    with serving(tmp_path) as viewer, looking(browser, viewer, 1, screenshots / "wall_added.png") as page:
        wall = open_wall(page)
        first = wall.locator("figure").first.element_handle()
        log("bb")
        assert soon(page, lambda: list(values(wall.locator("figure").first)[1]) == ["bb", "a"])
        assert "2 of 2 runs" in wall.inner_text()
        assert first.evaluate("figure => figure.isConnected")


def test_a_chart_asks_one_question_at_a_time_and_then_the_latest(browser, tmp_path, screenshots):
    with SummaryWriter(tmp_path / "a") as writer:
        for step in range(5000):
            writer.add_scalar("loss", step % 7, step)
    with serving(tmp_path) as viewer, looking(browser, viewer, 1, screenshots / "wall_questions.png") as page:
        plot = open_wall(page).locator("figure .plot")
        held, asked = [], []
        page.on("request", lambda request: asked.append(request.url) if "/curves?" in request.url else None)
        page.route("**/curves?*", lambda route: route.continue_() if held else held.append(route))
        plot.focus()
        page.keyboard.press("+")
        assert soon(page, lambda: held)
        for _ in range(3):
            page.keyboard.press("+")
        page.wait_for_timeout(300)
        assert len(asked) == 1
        held[0].continue_()
        assert soon(page, lambda: len(asked) == 2)
        low, high = (float(re.search(rf"{end}=([\d.]+)", asked[1])[1]) for end in ("from", "to"))
        assert high - low == pytest.approx(4999 / 16)  # what the last of the keys wanted
        assert soon(page, lambda: plot.locator("canvas").count() == 1)
        page.wait_for_timeout(300)
        assert len(asked) == 2


def test_more_curves_than_colors_and_dashes_are_drawn_and_saved(browser, tmp_path, screenshots):
    for k in range(33):
        with SummaryWriter(tmp_path / f"r{k}") as writer:
            for step in range(100):
                writer.add_scalar("loss", k + step % 2, step)
    with serving(tmp_path) as viewer, looking(browser, viewer, 33, screenshots / "wall_many.png") as page:
        wall = open_wall(page)
        assert soon(page, lambda: "of 33 runs" in wall.locator(".readout").inner_text())
        picture = Image.open(io.BytesIO(wall.locator(".u-over").screenshot()))
        colored = np.ptp(np.asarray(picture.convert("RGB"), int), axis=2) > 40
        has_lines = colored.mean(axis=1) > 0.1  # each goes up and down by one, and begins where another ends
        assert has_lines.mean() > 0.7
        with page.expect_download() as download:
            wall.get_by_label("Save loss").click()
            wall.get_by_role("button", name="SVG").click()
        drawing = download.value.path().read_text(encoding="utf-8")
        lines = re.findall(r' d="(M[^"]*)"', drawing.partition("<g clip-path")[2].partition("</g>")[0])
        assert len(lines) == 33
        assert {line.count("L") for line in lines} == {99}


def test_a_line_of_dense_points_is_thin(browser, tmp_path, screenshots):
    with SummaryWriter(tmp_path / "a") as writer:
        for step in range(5000):
            writer.add_scalar("loss", step % 7, step)
    with serving(tmp_path) as viewer, looking(browser, viewer, 1, screenshots / "wall_thin.png") as page:
        wall = open_wall(page)

        def saves():
            """Whether the menu was there: it closes when a chart is drawn anew, as when its points come."""
            drawn = wall.get_by_role("button", name="SVG")
            if not drawn.count():
                wall.get_by_label("Save loss").click()
            return drawn.evaluate_all("buttons => buttons.map(button => button.click()).length") == 1

        def widths():
            with page.expect_download() as download:
                assert soon(page, saves)
            drawing = download.value.path().read_text(encoding="utf-8")
            return set(re.findall(r'stroke-width="([\d.]+)"', drawing))

        assert widths() == {"1"}
        open_wall(page, **{"from": 100, "to": 200})
        assert soon(page, lambda: widths() == {"1.5"})
