"""Our page in TensorBoard, in Chromium: each view, deep links, a run that grows, hostile names, a broken plugin."""

import os
import re
from contextlib import ExitStack
from importlib.metadata import entry_points
from urllib.parse import quote

import numpy as np
import pytest
from browser.dashboard import TIMEOUT, box_of, serve
from browser.plugin_page import LOOKS, SIZES, PluginPage, colors, lightness
from browser.plugin_runs import LAYERS, SPIKE, STEPS, log_run, log_steps

from summaries import SummaryWriter, clip_advice, read_run

HOSTILE = "<img src=x onerror=window.hacked=1>"
NOT_UTF8 = os.fsdecode(b"caf\xe9 100%&?#")


@pytest.fixture(scope="module", autouse=True)
def _installed():
    if not [one for one in entry_points(group="tensorboard_plugins") if one.name == "gradledger"]:
        pytest.fail("the project was installed before it had a plugin; `make test` installs it again")


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    root = tmp_path_factory.mktemp("plugin") / "runs"
    log_run(root / "fine")
    log_run(root / "sweep" / "diverges", 1, diverges=True)
    log_run(root / "other layers", 2, layers=("encoder/0/attention", "encoder/0/mlp", "decoder"), steps=40)
    log_run(root / NOT_UTF8, 3, steps=30)
    with SummaryWriter(root / "matrices") as writer:
        for step in range(3):
            writer.add_tensor("confusion", np.array([[90 + step, 10.0], [10.0, 90]]), step)
    hostile = root / HOSTILE
    with SummaryWriter(hostile) as writer:
        for step in range(60):
            writer.add_scalar(f"train/loss {HOSTILE}", 1 / (1 + step), step)
            for layer in (HOSTILE, "</script><script>window.hacked=1</script>", "a\nb\x07"):
                writer.add_scalar(f"gradients/norm/{layer}", 1 + step % 3, step)
            writer.add_scalar("gradients/global_norm", 2 + step % 3, step)
    return root


@pytest.fixture(scope="module")
def addresses(logdir):
    """loader → the address of a TensorBoard with that loader."""
    started = {}
    with ExitStack() as running:

        def address(loader):
            if loader not in started:
                started[loader] = running.enter_context(serve(logdir, loader, {}))
            return started[loader]

        yield address


@pytest.fixture(scope="module")
def kept(browser, addresses):
    """loader → a page that tests share, because to load TensorBoard takes seconds."""
    made = {}

    def page(loader):
        if loader not in made:
            made[loader] = PluginPage(browser.new_context(**LOOKS).new_page(), addresses(loader))
        return made[loader]

    yield page
    for one in made.values():
        one.page.context.close()


@pytest.fixture(params=["python"])
def loader(request):
    """Which of TensorBoard's loaders reads the files; ours reads them itself."""
    return request.param


@pytest.fixture
def plugin(kept, watched, loader):
    """The shared page, as it was before any test."""
    page = kept(loader)
    page.page.set_viewport_size(SIZES["wide"])
    page.page.mouse.move(0, 0)
    page.forget()
    return watched(page)


def names_of(frame):
    return frame.locator("tbody th.name a").all_inner_texts()


def read(plugin, frame):
    """Wait until every run is read."""
    assert plugin.until(lambda: frame.locator("#tally .state").count() == 0)
    return frame


@pytest.mark.each_tensorboard
@pytest.mark.parametrize("loader", ["python", "rust"], indirect=True)
def test_all_runs(plugin):
    frame = read(plugin, plugin.open())
    assert names_of(frame)[0] == "sweep/diverges"  # the worst first
    assert len(names_of(frame)) == 6
    worst = frame.locator("tbody tr").first
    assert worst.locator(".worst").inner_text().startswith("GL304 train/loss rises")
    assert worst.locator(".sparkline").count() == 2  # loss and norm
    assert frame.locator("#tally").inner_text().startswith("6 runs")
    frame.get_by_role("searchbox").fill("fine")
    assert names_of(frame) == ["fine"]
    frame.locator("tbody th.name a").first.click()
    frame.locator("h1", has_text="fine").wait_for()
    plugin.page.go_back()
    assert frame.get_by_role("searchbox").input_value() == "fine"


def test_findings_beside_curves(plugin):
    frame = plugin.open("#/run/sweep%2Fdiverges")
    frame.locator(".finding b", has_text="GL304").wait_for()
    loss = frame.locator("figure", has=frame.locator("h3", has_text="Loss")).first
    assert plugin.until(lambda: colors(loss) > 0.005)
    frame.get_by_role("button", name="GL304").click()
    assert frame.locator("#rule h1").inner_text().startswith("GL304")
    plugin.page.keyboard.press("Escape")
    frame.get_by_role("link", name="Layers over steps").click()
    plugin.heat()
    assert "layers" in plugin.evaluate("location.hash")


@pytest.mark.parametrize("loader", ["python", "rust"], indirect=True)
def test_layers_over_steps(plugin):
    frame = plugin.open("#/run/fine/layers")
    canvas = plugin.heat()
    box = box_of(canvas)
    said = r"^gradients/norm/(encoder/\d/\w+), steps? [\d,]+(?: to [\d,]+)?: [\d.e\u2212]+$"
    layer = plugin.read_out(canvas, [(0.3, 0.3), (0.4, 0.3)], said)
    assert layer in LAYERS
    plugin.page.mouse.click(*plugin.move(canvas, (0.5, 0.3)))
    assert plugin.until(lambda: layer in frame.locator(".lines .u-legend").inner_text())
    plugin.move(canvas, (0.5, 0.4))  # drag from the middle to the right
    plugin.page.mouse.down()
    plugin.move(canvas, (0.6, 0.4), (0.7, 0.4))
    plugin.page.mouse.up()
    assert plugin.until(lambda: "from=" in plugin.evaluate("location.hash"))
    low, high = (int(re.search(rf"{key}=(\d+)", plugin.evaluate("location.hash"))[1]) for key in ("from", "to"))
    assert 100 < low < high < STEPS - 50
    frame.get_by_role("button", name="Whole run").click()
    assert plugin.until(lambda: "from=" not in plugin.evaluate("location.hash"))
    frame.get_by_role("button", name="Update ratio").click()
    assert plugin.until(lambda: "kind=update_ratio" in plugin.evaluate("location.hash"))
    frame.get_by_role("button", name="By name").click()
    plugin.heat()
    assert box_of(canvas)["height"] == box["height"]


def test_a_value_under_the_pointer_is_the_files(plugin):
    frame = plugin.open(f"#/run/fine/layers?from={SPIKE[0]}&to={SPIKE[1]}")
    canvas = plugin.heat()
    said = frame.locator(".readout").first
    row = LAYERS[3]

    def value():
        for share in np.linspace(0.05, 0.95, 40):
            plugin.move(canvas, (0.6, share))
            if row in said.inner_text() and ", step " in said.inner_text():
                return float(said.inner_text().rpartition(": ")[2])
        return 0.0

    assert plugin.until(lambda: value() > 10)


def test_the_strip_brushes(plugin):
    frame = plugin.open("#/run/fine/layers")
    plugin.heat()
    strip = frame.locator(".brush")
    plugin.move(strip, (0.4, 0.5))
    plugin.page.mouse.down()
    plugin.move(strip, (0.5, 0.5), (0.6, 0.5))
    plugin.page.mouse.up()
    width = box_of(frame.locator(".brush .window"))["width"]
    assert width == pytest.approx(0.2 * box_of(strip)["width"], rel=0.05)
    before = box_of(frame.locator(".brush .window"))["x"]
    plugin.move(strip, (0.5, 0.5))
    plugin.page.mouse.down()
    plugin.move(strip, (0.55, 0.5), (0.6, 0.5))
    plugin.page.mouse.up()
    after = box_of(frame.locator(".brush .window"))
    assert after["x"] > before + 0.05 * box_of(strip)["width"]
    assert after["width"] == pytest.approx(width, rel=0.02)
    strip.dblclick()
    assert plugin.until(lambda: box_of(frame.locator(".brush .window"))["width"] > 3 * width)


def test_two_runs_beside_one_another(plugin, logdir):
    frame = read(plugin, plugin.open())
    for name in ("fine", "sweep/diverges"):
        frame.get_by_role("checkbox", name=f"Pick {name}", exact=True).check()
    frame.get_by_role("button", name="Compare these two").click()
    for number in range(3):
        plugin.heat(number) if number < 2 else frame.locator("canvas.cells").nth(number).wait_for()
    assert frame.locator(".readout").inner_text() == f"{len(LAYERS)} variables that both runs have"
    ratios = frame.locator("canvas.cells").nth(2)
    plugin.read_out(ratios, [(0.5, 0.4), (0.55, 0.4)], r"(?:times larger in the (?:first|second)|equal)$")
    light = lightness(ratios)
    frame.locator("#theme").click()
    assert plugin.until(lambda: lightness(ratios) < 0.6 * light)  # where both are equal, it has the color of the page
    ends = [read_run(logdir / name).scalars["train/loss"].value[-1] for name in ("fine", "sweep/diverges")]
    told = frame.locator(".title .note").inner_text()
    assert [*map(float, re.findall("ends at train/loss ([-.e0-9]+)", told))] == pytest.approx(ends, 1e-2)
    frame.get_by_role("link", name="Swap").click()
    assert plugin.until(lambda: plugin.evaluate("location.hash").startswith("#/pair/sweep%2Fdiverges"))


def test_runs_that_share_only_some_variables(plugin):
    frame = plugin.open("#/pair/fine?with=other%20layers")
    assert plugin.until(lambda: frame.locator(".readout").count() > 0)
    assert frame.locator(".readout").inner_text() == "2 variables that both runs have"
    assert frame.locator(".tools .note").inner_text() == "11 variables only in one of them"


def test_runs_that_share_no_variable(plugin):
    frame = plugin.open(f"#/pair/fine?with={quote(HOSTILE, safe='')}")
    frame.get_by_text("There is no variable that both runs have.").wait_for()


def test_a_bound_is_dragged(plugin, logdir):
    frame = plugin.open("#/run/fine/clipping")
    slider = frame.get_by_role("slider")
    said = frame.locator(".said")
    assert plugin.until(lambda: said.inner_text().startswith(f"{clip_advice(logdir / 'fine').suggested:.3g}"[:3]))
    before = said.inner_text()
    box = box_of(slider)
    plugin.page.mouse.move(box["x"] + 100, box["y"])
    plugin.page.mouse.down()
    plugin.page.mouse.move(box["x"] + 100, box["y"] + 30)
    plugin.page.mouse.move(box["x"] + 100, box["y"] + 60)
    plugin.page.mouse.up()
    assert said.inner_text() != before
    bound = float(slider.get_attribute("aria-valuenow"))
    share = clip_advice(logdir / "fine", bounds=[bound]).would_clip[bound]
    assert f"{round(share * STEPS)} of {STEPS}" in said.inner_text()
    slider.focus()
    plugin.page.keyboard.press("ArrowUp")
    assert float(slider.get_attribute("aria-valuenow")) > bound
    assert plugin.until(lambda: "bound=" in plugin.evaluate("location.hash"))


def test_matrices_over_steps(plugin):
    frame = plugin.open("#/run/fine")
    assert frame.get_by_role("link", name="Matrices").count() == 0
    frame = plugin.open("#/run/matrices/matrices?step=1")
    heading = frame.locator("figure h3")
    heading.get_by_text("confusion, step 1", exact=True).wait_for()
    canvas = frame.locator(".matrix canvas")
    plugin.read_out(canvas, [(0.1, 0.1), (0.9, 0.1)], "^row 0, column 1: 10$")
    frame.get_by_role("slider").focus()
    plugin.page.keyboard.press("ArrowRight")
    heading.get_by_text("confusion, step 2", exact=True).wait_for()
    assert plugin.until(lambda: "step=2" in plugin.evaluate("location.hash"))


@pytest.mark.each_tensorboard
def test_a_deep_link_opens_what_it_was_made_of(plugin, opened, addresses, loader):
    frame = plugin.open("#/run/fine/layers?kind=update_ratio&order=name&from=100&to=200")
    plugin.heat()
    assert frame.get_by_role("button", name="Update ratio").get_attribute("aria-pressed") == "true"
    assert plugin.until(lambda: "p.gradledger.at=" in plugin.page.url)
    link = plugin.page.url
    other = opened(addresses(loader))
    other.page.goto(link)
    other.heat()
    assert other.evaluate("location.hash") == plugin.evaluate("location.hash")
    other.page.evaluate("location.hash = '#scalars'")
    other.evaluate("location.hash = '#/run/matrices'")  # as a link does that was clicked just before
    other.frame.locator("h1", has_text="matrices").wait_for(state="attached")
    assert other.top_address() == "#scalars"


def test_hostile_names_are_text(plugin):
    frame = read(plugin, plugin.open())
    link = frame.locator("tbody th.name a", has_text=HOSTILE)
    assert link.inner_text() == HOSTILE
    link.click()
    frame.locator("h1 span", has_text=HOSTILE).wait_for()
    frame.get_by_role("link", name="Layers over steps").click()
    canvas = plugin.heat()
    plugin.read_out(canvas, [(0.5, 0.2), (0.5, 0.3)], "gradients/norm/")
    plugin.page.mouse.click(*plugin.move(canvas, (0.5, 0.3)))
    frame.locator(".lines .uplot").wait_for()
    frame.get_by_role("link", name="Clipping").click()
    frame.locator(".said").wait_for()
    assert frame.locator("img").count() == 0


@pytest.mark.each_tensorboard
def test_a_name_that_is_not_utf8(plugin):
    frame = read(plugin, plugin.open())
    frame.locator("tbody th.name a", has_text="100%&?#").click()
    frame.get_by_role("link", name="Layers over steps").click()
    plugin.heat()
    assert "caf%E9%20100%25%26%3F%23" in plugin.evaluate("location.hash")
    link = plugin.page.url
    plugin.page.goto("about:blank")
    plugin.page.goto(link)
    plugin.heat()


def test_a_run_that_is_not_there(plugin):
    frame = plugin.open("#/run/nobody")
    assert frame.locator(".sorry p").first.inner_text() == "There is no run of this name here any more."


VIEWS = ("#/", "#/run/fine", "#/run/fine/layers", "#/run/fine/clipping", "#/pair/fine?with=sweep%2Fdiverges")


@pytest.mark.each_tensorboard
@pytest.mark.parametrize("size", SIZES)
def test_every_view_fits_in_light_and_dark(plugin, screenshots, size):
    plugin.page.set_viewport_size(SIZES[size])
    frame = plugin.open()
    for number, at in enumerate(VIEWS):
        plugin.evaluate(f"location.hash = {at!r}")
        assert plugin.until(
            lambda at=at: plugin.evaluate("location.hash") == at and frame.locator("main section").count() > 0
        )
        for scheme, fits in (("light", lambda found: found > 190), ("dark", lambda found: found < 90)):
            if (frame.locator("#theme").inner_text() == "Dark") == (scheme == "dark"):
                frame.locator("#theme").click()
            assert plugin.until(lambda fits=fits: fits(lightness(frame.locator("header.top")))), (at, scheme)
            plugin.page.screenshot(path=screenshots / f"plugin-view-{number}-{size}-{scheme}.png")
            assert (
                plugin.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
            ), at


@pytest.mark.each_tensorboard
def test_dark_when_tensorboard_is_until_the_reader_chooses(opened, addresses, loader):
    page = opened(addresses(loader), color_scheme="dark")
    frame = page.open()
    assert page.until(lambda: lightness(frame.locator("header.top")) < 90)
    page.page.evaluate("document.body.classList.remove('dark-mode')")  # as TensorBoard's own button does
    assert page.until(lambda: lightness(frame.locator("header.top")) > 190)
    frame.locator("#theme").click()
    assert page.until(lambda: lightness(frame.locator("header.top")) < 90)
    page.page.evaluate("document.body.classList.toggle('dark-mode')")
    page.page.evaluate("document.body.classList.toggle('dark-mode')")
    page.page.wait_for_timeout(200)
    assert lightness(frame.locator("header.top")) < 90


@pytest.mark.each_tensorboard
def test_a_run_that_grows(opened, tmp_path):
    rng, logdir = np.random.default_rng(0), tmp_path / "runs"
    logdir.mkdir()
    with serve(logdir, "python", {}) as address:
        page = opened(address)
        frame = page.open()
        frame.get_by_text("There are no event files there yet.").wait_for()
        with SummaryWriter(logdir / "a") as writer:
            log_steps(writer, rng, range(100))
            writer.flush()
            steps = frame.locator("tbody td.steps")
            assert page.until(lambda: steps.all_inner_texts() == ["100"])
            log_steps(writer, rng, range(100, 300), diverges=True)
            writer.flush()
            assert page.until(lambda: steps.all_inner_texts() == ["300"])
            assert page.until(lambda: "GL304" in frame.locator("tbody td.worst").inner_text())
            frame.locator("tbody th.name a").click()
            frame.locator(".facts dd", has_text="0 to 299").wait_for()
            log_steps(writer, rng, range(300, 350), diverges=True)
            writer.flush()
            frame.locator(".facts dd", has_text="0 to 349").wait_for()
            frame.get_by_role("link", name="Clipping").click()
            frame.get_by_role("button", name="5", exact=True).click()
            log_steps(writer, rng, range(350, 400), diverges=True)
            writer.flush()
            frame.get_by_text("400 steps.").wait_for()
            assert float(frame.get_by_role("slider").get_attribute("aria-valuenow")) == 5
            frame.get_by_role("link", name="Layers over steps").click()
            page.heat()
        page.page.goto("about:blank")  # before TensorBoard stops to answer


@pytest.mark.each_tensorboard
def test_a_broken_plugin_does_not_stop_tensorboard(browser, tmp_path, monkeypatch):
    log_run(tmp_path / "runs" / "a", steps=3)
    (tmp_path / "summaries").mkdir()
    (tmp_path / "summaries" / "__init__.py").write_text("raise RuntimeError('broken on purpose <b>')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)  # python -m looks there first
    with serve(tmp_path / "runs", "python", {"a": f"updates/ratio/{LAYERS[-1]}"}) as address:
        page = browser.new_page()
        page.set_default_timeout(TIMEOUT * 1000)
        page.goto(f"{address}/#gradledger")
        said = page.frame_locator("iframe[src*='name=gradledger']").locator("body")
        said.get_by_text("gradledger cannot show its page: RuntimeError: broken on purpose <b>").wait_for()
        page.close()
