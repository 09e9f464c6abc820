"""The file that `gradledger view --output` writes, in Chromium without a network: the server's page, from its data."""

import re
from pathlib import Path

import numpy as np
import pytest
from browser.dashboard import TIMEOUT, box_of, until
from browser.viewing import looking, open_wall, serving

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

    def open_page(text, width=1400, theme="light", at=".overview tbody tr"):
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
        page.locator(at).first.wait_for()
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
    box = box_of(figure.locator(".u-over"))
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


def test_what_a_restart_replaced_is_said_to_be_left_out(opened, tmp_path):
    for begin in (0, 60):
        with SummaryWriter(tmp_path / "runs" / "a") as writer:
            for step in range(begin, 100):
                writer.add_scalar("loss", begin + step, step, 1.79e9 + begin + step)
    foot = opened(saved_page([str(tmp_path / "runs")])).locator("#kept").inner_text()
    assert foot == "This file has all 101 points of 1 tag, without 39 that a restart replaced."  # both of step 60 stand


def test_a_thinned_file_says_so_and_keeps_the_spike(opened, runs):
    page = opened(saved_page([runs], most_points=300))
    assert re.search(r"This file has \d+ of 9,090 points .* least and the largest", page.locator("#kept").inner_text())
    figure = wall(page, "?tags=train&runs=seed%3D0").locator("figure").first
    assert re.search(r"\d+ of 3,000 points", figure.locator(".thinned").inner_text())
    box = box_of(figure.locator(".u-over"))
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
    page.evaluate("location.hash = '#/run/seed%3D0/clipping'")
    page.locator("main .sorry").wait_for()
    assert "gradledger view, on the runs, shows it" in page.locator("main").inner_text()
    page.evaluate("location.hash = '#/table'")
    page.locator("section.table").wait_for()
    assert page.get_by_role("button", name="Save as a file").count() == 0


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Runs with hyperparameters, layers, and everything that media show."""
    root = tmp_path_factory.mktemp("network")
    for k, lr in enumerate((0.1, 0.2)):
        with SummaryWriter(root / f"lr={lr}") as writer:
            for step in range(200):
                writer.add_scalar("train/loss", 9.0 if step == 50 else lr + 1 / (step + 1), step, 1.79e9 + step)
                for layer in ("a", "b"):
                    norm = 1e6 if (k, layer, step) == (0, "b", 120) else 1.0 + step % 5
                    writer.add_scalar(f"gradients/norm/{layer}", norm, step, 1.79e9 + step)
            for step in range(30):
                writer.add_image("sample", np.full((3, 8, 8), step / 30), step)
                writer.add_text("said", f"words of {step} <b>and</b> {lr}", step)
                writer.add_histogram("weights", np.arange(99.0) + step, step)
            writer.add_audio("sound", np.zeros((1, 800)), 1, sample_rate=8000)
            writer.add_pr_curve("pr", np.arange(99) % 2, np.linspace(0, 1, 99), 1)
    return str(root)


def test_the_table_of_a_file(opened, network):
    page = opened(saved_page([network]))
    page.get_by_role("link", name="Table", exact=True).click()
    page.locator(".runs-table tbody tr").nth(1).wait_for()

    def cells():
        heads = page.locator(".runs-table thead th").evaluate_all(
            "all => all.map(th => th.querySelector('button')?.title)"
        )
        rows = page.locator(".runs-table tbody tr").all()
        return [dict(zip(heads, row.locator("th, td").all_inner_texts(), strict=True)) for row in rows]

    assert [one["lr"] for one in cells()] == ["0.1", "0.2"]
    assert [float(one["train/loss, last"]) for one in cells()] == pytest.approx([0.105, 0.205], abs=1e-3)
    columns = '["parameter:lr","largest:train/loss","at@50:train/loss","at@-1:train/loss","last:none"]'
    page.evaluate("columns => { location.hash = '#/table?columns=' + encodeURIComponent(columns) }", columns)
    page.locator("thead button[title='train/loss at 50']").wait_for()
    assert [list(one.values())[1:] for one in cells()] == [
        [lr, "9", "9", *2 * ["\N{EN DASH}"]] for lr in ("0.1", "0.2")
    ]
    page = opened(saved_page([network], most_points=400))
    page.evaluate("columns => { location.hash = '#/table?columns=' + encodeURIComponent(columns) }", columns)
    page.locator("main .sorry").wait_for()
    assert "some of the points only" in page.locator("main").inner_text()  # it does not guess


def test_layers_and_two_runs_in_a_file(opened, network):
    page = opened(saved_page([network]))
    page.evaluate("location.hash = '#/run/lr%3D0.1/layers?layers=gradients/norm/b'")
    heat = page.locator("canvas.cells").first
    heat.wait_for()
    assert page.locator(".tabs .choice a").all_inner_texts() == ["Findings and curves", "Layers over steps"]
    box, there, said = box_of(heat), page.locator("figure.heat .readout").first, set()
    for share in np.linspace(0.5, 0.9, 200):  # the row of b, over its spike
        page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.6 * box["height"])
        said.add(there.inner_text())
    values = {told for one in said for told in re.findall(r"b, step (\d+): (.+)$", one)}
    assert {("119", "5"), ("120", "1,000,000"), ("121", "2")} <= values
    assert page.locator("figure.heat .plot canvas").count() == 1
    page.evaluate("location.hash = '#/pair/lr%3D0.1?with=lr%3D0.2'")
    assert until(lambda: page.locator("canvas.cells").count() > 2, lambda s: page.wait_for_timeout(1000 * s))


def media_of(page, kind):
    page.evaluate("kind => { location.hash = '#/media?kind=' + kind }", kind)
    page.locator(".media figure").nth(1).wait_for()
    section = page.locator(".media details").first
    assert until(lambda: section.locator(".shown > *").count() > 1, lambda s: page.wait_for_timeout(1000 * s))
    return section


def test_media_of_a_file(opened, network):
    page = opened(saved_page([network]))
    foot = page.locator("#kept").inner_text()
    assert "Of images, sounds, texts, histograms and PR curves, it has 104 of 184." in foot  # 10 of 30 for two kinds
    section = media_of(page, "images")
    assert "this file has 20 of 60 values" in section.locator(".stepped").inner_text()
    image = section.locator("img").first
    assert image.evaluate("async image => { await image.decode(); return image.naturalWidth }") == 8
    section = media_of(page, "texts")
    assert section.locator("pre").first.inner_text() == "words of 29 <b>and</b> 0.1"
    section.get_by_role("slider").fill("0")
    assert until(
        lambda: section.locator("pre").first.inner_text() == "words of 0 <b>and</b> 0.1",
        lambda s: page.wait_for_timeout(1000 * s),
    )
    section = media_of(page, "audio")
    ready = "audio => new Promise(done => { audio.onloadedmetadata = () => done(audio.duration); audio.load() })"
    assert section.locator("audio").first.evaluate(ready) == pytest.approx(0.1)
    assert media_of(page, "pr_curves").locator("path").count() >= 2
    section = media_of(page, "histograms")
    assert "steps 0 to 29" in section.inner_text()
    page.get_by_role("button", name="Ridges").click()
    assert until(lambda: page.locator(".ridges path").count() == 48, lambda s: page.wait_for_timeout(1000 * s))


def test_a_file_without_room_for_media_says_so(opened, network):
    page = opened(saved_page([network], most_media_bytes=0))
    assert "it has 0 of 184" in page.locator("#kept").inner_text()
    page.evaluate("location.hash = '#/media?kind=images'")
    page.locator(".media .cards .note").wait_for()
    assert "There was no room for it in this file" in page.locator(".media .cards").inner_text()


def test_the_server_gives_the_file_of_what_is_chosen(browser, opened, network, screenshots):
    with serving(network) as viewer, looking(browser, viewer, 2, screenshots / "saved_by_button.png") as page:
        wall_of_server = open_wall(page, tags="loss", runs="0.2", y="log")
        with page.expect_download() as saving:
            wall_of_server.get_by_role("button", name="Save as a file").click()
        assert saving.value.suggested_filename == "runs.html"
        text = Path(saving.value.path()).read_text(encoding="utf-8")
        colors = wall_of_server.locator(".runs li").get_attribute("class")
    page = opened(text, at=".wall .uplot canvas")  # it opens where it was saved
    assert page.get_by_role("button", name="Log", exact=True).get_attribute("aria-pressed") == "true"
    assert page.locator(".wall h3").all_inner_texts() == ["train/loss"]
    assert page.locator(".wall .runs li").get_attribute("class") == colors
    assert "lr=0.1" not in text
    assert "all 200 points of 1 tag" in page.locator("#kept").inner_text()


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (360, "dark")])
def test_it_fits(opened, runs, width, theme):
    page = opened(saved_page([runs]), width, theme)
    fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert page.evaluate(fits)
    wall(page)
    assert page.evaluate(fits)
