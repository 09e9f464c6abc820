"""The audit's page in Chromium: what it shows, that it zooms and follows the pointer, that no name does harm."""

import io
from dataclasses import replace

import numpy as np
import pytest
from browser.dashboard import TIMEOUT, until
from PIL import Image
from reports import HOSTILE_RUN, HOSTILE_TAG, curve, exploded, finding, healthy, hostile, run, several

from summaries.auditing.findings import Failure, Report, RunReport
from summaries.auditing.report.html import html

RULES = {
    "GL301": "# GL301 non-finite loss\n\nThe loss was `NaN`.\n\n<script>window.hacked=1</script>\n\n"
    "[Pascanu](https://arxiv.org/abs/1211.5063) [bad](javascript:alert(1)) ![x](https://example.org/x.png)\n"
}
EXPLODED = 4  # its position in `several`


class Page:
    """A page from a file, every request but for that file refused and noted, and every error noted."""

    def __init__(self, page, path):
        self.page = page
        self.path = path
        self.requests = []
        self.errors = []
        page.set_default_timeout(TIMEOUT * 1000)
        page.route("**/*", self._answer)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)

    def open(self, report, position=None, **options):
        """Open the overview, or one run."""
        self.path.write_text(html(report, **options), encoding="utf-8")
        self.page.goto(f"{self.path.as_uri()}#/{'' if position is None else position}")
        self.page.locator("main > section").wait_for()
        return self.page

    def chart(self, title):
        """The figure with this title, drawn."""
        figure = self.page.locator("figure", has=self.page.locator("h3", has_text=title)).first
        figure.scroll_into_view_if_needed()
        figure.locator("canvas").first.wait_for()
        self.page.wait_for_timeout(50)  # uPlot draws at the end of the task
        return figure

    def shown(self):
        """First and last x that all charts show."""
        self.page.wait_for_timeout(50)
        ranges = self.page.evaluate("[...place.current.view().charts].map(({scales: {x}}) => [x.min, x.max])")
        assert all(one == ranges[0] for one in ranges)
        return ranges[0]

    def _answer(self, route):
        if route.request.url.startswith(self.path.as_uri()):
            return route.continue_()
        self.requests.append(route.request.url)
        return route.abort()


@pytest.fixture
def audit(browser, tmp_path, screenshots, request):
    """A page that is opened with a report; at the end there was no error, no request, and nothing was run."""
    context = browser.new_context(
        viewport={"width": 1400, "height": 1000}, reduced_motion="reduce", color_scheme="light"
    )
    opened = Page(context.new_page(), tmp_path / "audit.html")
    yield opened
    opened.page.screenshot(path=screenshots / f"audit_{request.node.originalname.removeprefix('test_')}.png")
    hacked = opened.page.evaluate("window.hacked")
    context.close()
    assert opened.errors == []
    assert opened.requests == []
    assert hacked is None


def colored(figure):
    """The share of a chart's pixels that are neither its background nor gray."""
    pixels = np.asarray(Image.open(io.BytesIO(figure.locator(".u-wrap").first.screenshot())).convert("RGB"), int)
    return float(np.mean(np.ptp(pixels, axis=2) > 60))


def test_overview(audit):
    page = audit.open(several(), baseline="baseline")
    names = page.locator("tbody th.name a").all_inner_texts()
    assert names == ["sweep/lr=0.1", "sweep/lr=0.01", "empty", "baseline", "sweep/lr=0.001"]  # the worst first
    first = page.locator("tbody tr").first
    assert first.locator("td.worst").inner_text().startswith("GL301 The loss is NaN from step 3750")
    assert first.locator("td.count").all_inner_texts() == ["2", "2", "2"]
    assert first.locator("td.loss").inner_text() == "NaN"
    assert first.locator("td.took").inner_text() == "16 min 40 s"
    assert first.locator(".sparkline path.odd").count() == 1
    assert page.locator(".sparkline").count() == 4
    assert page.locator("em").inner_text() == "baseline"
    assert page.locator("#tally").inner_text().split("\n") == ["5 runs", "2 errors", "3 warnings", "3 notes"]


def test_sort_and_filter(audit):
    page = audit.open(several())
    names = page.locator("tbody th.name a")
    page.get_by_role("button", name="Run", exact=True).click()
    assert names.all_inner_texts() == ["baseline", "empty", "sweep/lr=0.001", "sweep/lr=0.01", "sweep/lr=0.1"]
    assert page.locator("th[aria-sort]").get_attribute("aria-sort") == "ascending"
    page.get_by_role("searchbox").fill("SWEEP")
    assert names.count() == 3
    page.get_by_role("button", name="1 with warnings").click()
    assert names.all_inner_texts() == ["sweep/lr=0.01"]
    page.get_by_role("button", name="1 with warnings").click()
    page.get_by_role("combobox").select_option("GL402")
    assert names.all_inner_texts() == ["sweep/lr=0.1"]
    assert page.locator(".tools .note").inner_text() == "1 of 5 runs"
    names.first.click()
    page.locator(".run").wait_for()
    page.go_back()
    page.locator("tbody tr").first.wait_for()
    assert page.get_by_role("searchbox").input_value() == "SWEEP"  # the filter is as it was left


def test_findings_and_charts(audit):
    page = audit.open(several(), EXPLODED)
    assert page.locator(".finding b").all_inner_texts() == ["GL301", "GL402", "GL302", "GL406", "GL405", "GL105"]
    assert "is NaN from step 3750 to the end" in page.locator(".finding").first.inner_text()
    for title in ["Loss", "Gradient norm and its bound", "Share of steps clipped", "Learning rate"]:
        assert colored(audit.chart(title)) > 0.002, title
    for title in ["Gradient norm of each variable", "Update ratio of each variable"]:
        assert colored(audit.chart(title)) > 0.3, title
    page.locator(".further summary").click()
    assert colored(audit.chart("train/global_step_per_sec")) > 0.002


def test_a_finding_is_shown_on_its_curve(audit):
    page = audit.open(several(), EXPLODED)
    marked = colored(audit.chart("Loss"))
    page.locator(".finding", has_text="GL302").click()
    low, high = audit.shown()
    assert low < 2500
    assert high > 2560
    assert high - low < 500
    assert audit.chart("Loss").locator(".u-over").bounding_box()["y"] > 0
    assert colored(audit.chart("Loss")) != marked
    page.get_by_role("button", name="Whole run").click()
    assert audit.shown() == [0, 3999]


def test_a_click_on_a_mark_finds_its_finding(audit):
    page = audit.open(several(), EXPLODED)
    plot = audit.chart("Gradient norm and its bound").locator(".u-over").bounding_box()
    page.mouse.click(plot["x"] + plot["width"] * 3400 / 3999, plot["y"] + plot["height"] / 2)
    assert page.locator(".finding:focus b").inner_text() == "GL402"


def test_hover(audit):
    page = audit.open(several(), EXPLODED)
    figure = audit.chart("Loss")
    plot = figure.locator(".u-over").bounding_box()
    page.mouse.move(plot["x"] + plot["width"] * 0.5, plot["y"] + 20)
    page.mouse.move(plot["x"] + plot["width"] * 0.25, plot["y"] + 20)
    step, train, validation = figure.locator(".u-legend .u-value").all_inner_texts()
    assert abs(int(step.replace(",", "")) - 1000) < 20
    assert 0.6 < float(train) < 1.2
    assert 0.6 < float(validation) < 1.2
    page.mouse.move(plot["x"] + plot["width"] * 0.99, plot["y"] + 20)
    assert figure.locator(".u-legend .u-value").all_inner_texts()[1] == "NaN"
    cells = audit.chart("Gradient norm of each variable")
    plot = cells.locator(".u-over").first.bounding_box()
    page.mouse.move(plot["x"] + plot["width"] * 0.4, plot["y"] + plot["height"] * 7.5 / 12)
    page.mouse.move(plot["x"] + plot["width"] * 0.5, plot["y"] + plot["height"] * 7.5 / 12)
    readout = cells.locator(".readout").inner_text()
    assert readout.startswith("gradients/norm/encoder/layer_7/attention/weights, step ")
    assert readout.endswith(": 0")


def test_zoom(audit):
    page = audit.open(several(), EXPLODED)
    plot = audit.chart("Loss").locator(".u-over").bounding_box()
    middle = plot["y"] + plot["height"] / 2
    page.mouse.move(plot["x"] + plot["width"] * 0.5, middle)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] * 0.6, middle)
    page.mouse.move(plot["x"] + plot["width"] * 0.75, middle)
    page.mouse.up()
    low, high = audit.shown()
    assert (low, high) == pytest.approx((0.5 * 3999, 0.75 * 3999), rel=0.01)
    page.locator(".plot").first.focus()
    page.keyboard.press("ArrowLeft")
    assert audit.shown()[0] < low
    page.keyboard.press("+")
    assert audit.shown()[1] - audit.shown()[0] == pytest.approx((high - low) / 2)
    page.mouse.dblclick(plot["x"] + plot["width"] / 2, middle)
    assert audit.shown() == [0, 3999]


def test_time_and_logarithm(audit):
    page = audit.open(several(), EXPLODED)
    figure = audit.chart("Loss")
    before = figure.locator(".u-wrap").screenshot()
    figure.get_by_role("button", name="Linear").click()
    page.wait_for_timeout(100)
    assert figure.locator(".u-wrap").screenshot() != before
    page.get_by_role("button", name="Time").click()
    assert audit.shown() == pytest.approx([0, 3999 / 4])
    assert "min" in audit.chart("Loss").locator(".u-legend .u-value").first.inner_text()
    assert colored(audit.chart("Loss")) > 0.002


def test_dark_and_light(audit):
    page = audit.open(several(), EXPLODED)
    lightness = lambda: np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("L")).mean()  # noqa: E731
    audit.chart("Loss")
    assert lightness() > 200
    page.emulate_media(color_scheme="dark")
    assert lightness() < 60
    assert page.locator("#theme").inner_text() == "Light"
    page.locator("#theme").click()
    assert lightness() > 200
    page.reload()
    audit.chart("Loss")
    assert lightness() > 200  # as chosen, though the system is dark


def test_a_rules_page(audit):
    page = audit.open(several(), EXPLODED, pages=RULES)
    page.get_by_role("button", name="GL301").click()
    dialog = page.locator("#rule")
    assert dialog.locator("h1").inner_text() == "GL301 non-finite loss"
    assert "<script>window.hacked=1</script>" in dialog.inner_text()  # as text
    assert dialog.locator("a").evaluate_all("links => links.map((link) => link.href)") == [
        "https://arxiv.org/abs/1211.5063",
        "https://example.org/x.png",  # a picture is a link: nothing is loaded
    ]
    assert dialog.locator("img, script").count() == 0
    page.keyboard.press("Escape")
    assert not dialog.is_visible()


def test_hostile_names(audit):
    page = audit.open(Report((hostile(), healthy("ok"))))
    shown = page.locator("tbody th.name a").first
    assert shown.inner_text().startswith(HOSTILE_RUN[:40])
    page.get_by_role("searchbox").fill("<script>")
    assert page.locator("tbody tr").count() == 1
    shown.click()
    assert page.locator("h1").inner_text().startswith(HOSTILE_RUN[:40])
    assert HOSTILE_TAG in page.locator(".finding").first.inner_text()
    for figure in page.locator("figure").all():
        figure.scroll_into_view_if_needed()
        figure.locator("canvas").first.wait_for()
    assert HOSTILE_TAG in page.locator("figure").first.inner_text()
    heat = audit.chart("Gradient norm of each variable")
    assert colored(heat) > 0.3
    assert page.locator("main img, main script, main iframe").count() == 0


def test_nothing_else_runs(audit):
    """Were there a way in, the browser's policy would still stop it."""
    page = audit.open(several())
    tried = page.evaluate("""() => new Promise((resolve) => setTimeout(() => {
        const attempts = [
            () => { document.body.innerHTML = "<img src=x onerror=window.hacked=1>"; },
            () => eval("window.hacked=1"),
            () => { document.body.append(Object.assign(document.createElement("script"), {text: "window.hacked=1"})); },
        ];
        resolve(attempts.map((attempt) => { try { attempt(); return "done"; } catch (error) { return error.name; } }));
    }))""")
    told, audit.errors[:] = list(audit.errors), []
    assert tried == ["TypeError", "EvalError", "TypeError"]
    assert len(told) >= 3


def test_odd_runs(audit):
    """One point, none, all NaN, huge values, steps that JavaScript cannot count to, clocks that are not finite."""
    one = curve("loss", "loss", [1.0])
    far = replace(curve("far", "", [1.0, 2.0, 3.0]), step=np.array([-(2**62), 0, 2**63 - 1]))
    clock = replace(curve("clock", "", [1.0, 2.0, 3.0]), wall_time=np.array([np.nan, np.inf, 1e300]))
    curves = [one, curve("none", "", []), curve("nan", "validation_loss", np.full(50, np.nan)), far, clock]
    curves += [curve("huge", "", [1e308, -1e308, 1e-320]), curve("mixed", "", [np.inf, 1, -np.inf, 2, np.nan])]
    curves += [curve(f"zero{i}", "update_ratio", np.zeros(5), f"zero{i}") for i in range(3)]
    told = [
        finding("GL204", "stall", "WARNING", "odd", "", (0, 10), "No tag."),
        finding("GL202", "x", "ERROR", "odd", "none", (5, 6), "No point."),
    ]
    page = audit.open(Report((run("odd", told, curves),)), 0)
    page.locator(".further summary").click()
    for axis in ["Time", "Step"]:
        page.get_by_role("button", name=axis).click()
        if axis == "Step":
            page.locator(".further summary").click()
        for figure in page.locator("figure").filter(visible=True).all():
            figure.scroll_into_view_if_needed()
            figure.locator("canvas").first.wait_for()
    for card in page.locator(".finding").all():
        card.click()


def test_what_was_not_audited(audit):
    gone = Failure("gone", "", "the process that audited it was killed by signal 9")
    closed = Failure("closed", f"runs/{HOSTILE_TAG}", "Permission denied")
    runs = (
        healthy("fine"),
        replace(healthy("closed"), failures=(closed,)),
        RunReport("gone", (), (), failures=(gone,)),
    )
    page = audit.open(Report(runs))
    assert page.locator("tbody th.name a").all_inner_texts() == ["closed", "gone", "fine"]
    assert page.locator("#tally").inner_text().split("\n")[:2] == ["3 runs", "2 parts not audited"]
    cells = page.locator("tbody td.worst").all_inner_texts()
    assert cells[0] == f"Not audited runs/{HOSTILE_TAG}: Permission denied"
    page.get_by_text("gone", exact=True).click()
    assert page.locator(".failure").inner_text().split("\n")[-1] == gone.reason
    page.get_by_text("All runs").first.click()
    page.get_by_text("closed", exact=True).click()
    assert HOSTILE_TAG in page.locator(".failure").inner_text()
    audit.chart("Loss")


def test_five_thousand_runs(audit):
    rng = np.random.default_rng(0)
    fine = [
        run(f"sweep/{i:04}", curves=[curve("loss", "loss", rng.random(60) + 3 - np.linspace(0, 2, 60))])
        for i in range(4999)
    ]
    page = audit.open(Report((*fine[:3000], exploded("bad", count=800, layers=3), *fine[3000:])))
    assert page.locator("tbody th.name a").first.inner_text() == "bad"
    rows = page.locator("tbody tr")
    assert rows.count() < 1000
    page.mouse.move(700, 600)
    page.mouse.wheel(0, 20_000)
    before = rows.count()
    page.mouse.wheel(0, 20_000)
    assert until(lambda: rows.count() > before, lambda seconds: page.wait_for_timeout(1000 * seconds))
    page.get_by_role("searchbox").fill("sweep/123")
    assert page.locator("tbody th.name a").all_inner_texts() == [f"sweep/123{i}" for i in range(10)]
    page.locator("tbody th.name a").nth(4).click()
    assert page.locator("h1").inner_text() == "sweep/1234"
    assert colored(audit.chart("Loss")) > 0.002


def test_fifty_long_tags(audit):
    rng = np.random.default_rng(0)
    noise = np.exp(rng.standard_normal(100_000))
    curves = [curve("loss", "loss", noise)]
    curves += [
        curve(f"gradients/norm/{i}", "gradient_norm", np.roll(noise, 997 * i) * (i + 1), f"{i}") for i in range(49)
    ]
    page = audit.open(Report((run("long", curves=curves),)), 0)
    assert colored(audit.chart("Loss")) > 0.05
    assert colored(audit.chart("Gradient norm of each variable")) > 0.3
    page.evaluate("place.current.view().zoom([50000, 51000])")
    assert colored(audit.chart("Loss")) > 0.002


NUMBERS = [
    ("number(1234567)", "1,234,567"),
    ("number(0.031251)", "0.03125"),
    ("number(1/3)", "0.3333"),
    ("number(-12.5)", "\u221212.5"),
    ("number(3.4028e38)", "3.403e+38"),
    ("number(-1e-7)", "\u22121e\u22127"),
    ("number(123456.7)", "1.235e+5"),
    ("number(0)", "0"),
    ("number(NaN)", "NaN"),
    ("number(-Infinity)", "\u2212∞"),
    ("number(null)", "\u2013"),
    ("tick(20000)", "20k"),
    ("tick(1500000)", "1.5M"),
    ("tick(0.0005)", "5e\u22124"),
    ("tick(-2e-20)", "\u22122e\u221220"),
    ("tick(1e15)", "1e+15"),
    ("duration(0.25)", "0.25 s"),
    ("duration(59.6)", "1 min"),
    ("duration(8000)", "2 h 13 min"),
    ("duration(86460)", "1 d"),
    ("duration(-90)", "\u22121 min 30 s"),
    ("duration(NaN)", "\u2013"),
    ("stepRange([5, 5])", "step 5"),
    ("stepRange([0, 1000])", "steps 0 to 1,000"),
    ("counted(1, 'run')", "1 run"),
    ("counted(2000, 'run')", "2,000 runs"),
    ("logRange(null, 0.35, 17).join()", "0.3,20"),
    ("logRange(null, 0.3, 0.3).join()", "0.3,0.6"),
    ("logRange(null, null, null).join()", "1,10"),
    ("linearRange(null, 0, 0).join()", "-1,1"),
    ("linearRange(null, -3, -3).join()", "-4.5,-1.5"),
    ("linearRange(null, null, null).join()", "0,1"),
    ("linearRange(null, 0, 9)[0]", 0),
    ("shareRange(null, 0, 0).join()", "-0.03,1.05"),
    ("shareRange(null, 0.1, 1).join()", "-0.03,1.05"),
    ("logSplits(0.3, 0.6).join()", "0.3,0.4,0.5,0.6"),
    ("logSplits(0.01, 2).join()", "0.01,0.02,0.05,0.1,0.2,0.5,1,2"),
    ("logSplits(2e-9, 3).join()", "1e-8,0.000001,0.0001,0.01,1"),
    ("logSplits(0.08, 1e37).join()", "1,10000000,100000000000000,1e+21,1e+28,1e+35"),
    ("logSplits(1e-307, 1e308).length", 5),
    ("asinhSplits(-20, 300, 0.5).join()", "-10,-1,0,1,10,100"),
    ("asinhSplits(0, 0.5, 0.5).join()", "0"),
    ("asinhRange(-2, -1).join()", "-2,0"),
    ("shades([{ value: [1, 2, 3] }], false).high", 3),
    ("shades([{ value: [...Array(998).fill(1), 2, 1e9] }, { value: [NaN, 0] }], true).high", 1e9),
    ("JSON.stringify(shades([{ value: [...Array(1000).keys(), 1e9] }], true).cut)", "[true,true]"),
    ("shades([{ value: [...Array(1000).keys(), 1e9] }], true).high", 990),
    ("shades([{ value: [] }, { value: [NaN] }], true).low", None),
    ("shortened('encoder/layer_7/attention/weights', 16)", "encod…on/weights"),
    ("distinct(['a/b/c/w', 'a/d/c/w', 'a/e/e/w']).join()", "b/c,d/c,e/e"),
    ("distinct(['w', 'w']).join()", "w,w"),
]


def test_numbers_as_people_read_them(audit):
    page = audit.open(several())
    said = [(asked, page.evaluate(asked)) for asked, _ in NUMBERS]
    assert said == NUMBERS


def test_what_is_about_no_tag_is_marked_on_the_loss(audit):
    stall = finding("GL204", "stall", "WARNING", "a", "", (2000, 2100), "Nothing for two hours.")
    page = audit.open(Report((run("a", [stall], healthy("a").curves),)), 0)
    plot = audit.chart("Loss").locator(".u-over").bounding_box()
    page.mouse.click(plot["x"] + plot["width"] * 2050 / 3999, plot["y"] + 50)
    assert page.locator(".finding:focus b").inner_text() == "GL204"


def test_what_many_variables_show_is_folded(audit):
    tags = [one.tag for one in healthy("a").curves if one.role == "gradient_norm"]
    steps = [(3000, 3999), (3000, 3999), (2000, 2100), *[(3000, 3999)] * 9]
    told = [finding("GL403", "x", "WARNING", "a", tag, at, "It vanishes.") for tag, at in zip(tags, steps, strict=True)]
    told.append(finding("GL302", "loss-spike", "WARNING", "a", "train/loss", (50, 50), "It jumps."))
    page = audit.open(Report((run("a", told, healthy("a").curves),)), 0)
    cards = page.locator(".finding").filter(visible=True)
    assert (page.locator("aside h2").inner_text(), cards.count()) == ("13 findings", 2)
    assert page.locator(".folded > summary").inner_text() == "11 more of GL403"
    lines = audit.chart("Gradient norm of each variable").locator(".u-over").nth(1).bounding_box()
    page.mouse.click(lines["x"] + lines["width"] * 2050 / 3999, lines["y"] + 20)  # a mark opens what hides its card
    assert page.locator(".finding:focus .tag").inner_text() == tags[2]
    assert cards.count() == 13
    page.locator(".folded .finding").nth(4).click()
    assert audit.shown()[0] > 1500


@pytest.mark.parametrize("values", [[0.1, 1e37, 0.2], [0, 1e17, 1e-9, 3], [-1e300, 1e300, 0], [2.0, 2.1], [0, 0, 0]])
def test_an_axis_has_its_ticks(audit, values):
    """Over forty decades as over half of one."""
    page = audit.open(Report((run("a", curves=[curve("train/loss", "loss", values)]),)), 0)
    audit.chart("Loss").get_by_role("button", name="Log").click()
    page.wait_for_timeout(50)
    (ticks,) = page.evaluate("[...place.current.view().charts].map((u) => u.axes[1]._values)")
    assert 1 <= len([tick for tick in ticks if tick]) <= 14


def test_on_a_narrow_screen_and_on_paper(audit):
    page = audit.open(several(), EXPLODED)
    page.set_viewport_size({"width": 420, "height": 900})
    audit.chart("Loss")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420
    page.emulate_media(media="print")
    assert page.locator(".tools").first.is_hidden()
