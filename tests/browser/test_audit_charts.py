"""The charts of the audit's page in Chromium: what they show, that they zoom and follow the pointer."""

import numpy as np
import pytest
from audits.reports import curve, finding, healthy, run, several
from browser.audit_page import EXPLODED, colored
from browser.dashboard import box_of

from summaries.auditing.reports import Report


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
    assert box_of(audit.chart("Loss").locator(".u-over"))["y"] > 0
    assert colored(audit.chart("Loss")) != marked
    page.get_by_role("button", name="Whole run").click()
    assert audit.shown() == [0, 3999]


def test_a_click_on_a_mark_finds_its_finding(audit):
    page = audit.open(several(), EXPLODED)
    plot = box_of(audit.chart("Gradient norm and its bound").locator(".u-over"))
    page.mouse.click(plot["x"] + plot["width"] * 3400 / 3999, plot["y"] + plot["height"] / 2)
    assert page.locator(".finding:focus b").inner_text() == "GL402"


def test_hover(audit):
    page = audit.open(several(), EXPLODED)
    figure = audit.chart("Loss")
    plot = box_of(figure.locator(".u-over"))
    page.mouse.move(plot["x"] + plot["width"] * 0.5, plot["y"] + 20)
    page.mouse.move(plot["x"] + plot["width"] * 0.25, plot["y"] + 20)
    step, train, validation = figure.locator(".u-legend .u-value").all_inner_texts()
    assert abs(int(step.replace(",", "")) - 1000) < 20
    assert 0.6 < float(train) < 1.2
    assert 0.6 < float(validation) < 1.2
    page.mouse.move(plot["x"] + plot["width"] * 0.99, plot["y"] + 20)
    assert figure.locator(".u-legend .u-value").all_inner_texts()[1] == "NaN"
    cells = audit.chart("Gradient norm of each variable")
    plot = box_of(cells.locator(".u-over").first)
    page.mouse.move(plot["x"] + plot["width"] * 0.4, plot["y"] + plot["height"] * 7.5 / 12)
    page.mouse.move(plot["x"] + plot["width"] * 0.5, plot["y"] + plot["height"] * 7.5 / 12)
    readout = cells.locator(".readout").inner_text()
    assert readout.startswith("gradients/norm/encoder/layer_7/attention/weights, step ")
    assert readout.endswith(": 0")


def test_zoom(audit):
    page = audit.open(several(), EXPLODED)
    plot = box_of(audit.chart("Loss").locator(".u-over"))
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


def test_keys_count_once_however_often_the_scale_was_chosen(audit):
    page = audit.open(Report((healthy("a"),)), 0)
    figure = audit.chart("Loss")
    for name in ("Linear", "Log", "Linear"):
        figure.get_by_role("button", name=name).click()
    figure.locator(".plot").focus()
    page.keyboard.press("+")
    low, high = audit.shown()
    assert high - low == pytest.approx(3999 / 2)


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


RANGES = [  # of axes, as uPlot asks for them; what needs no uPlot is tested in tests/javascript
    ("$chart.positiveRange(null, 0.35, 17).join()", "0.3,20"),
    ("$chart.positiveRange(null, null, null).join()", "1,10"),
    ("$chart.linearRange(null, 0, 0).join()", "-1,1"),
    ("$chart.linearRange(null, -3, -3).join()", "-4.5,-1.5"),
    ("$chart.linearRange(null, null, null).join()", "0,1"),
    ("$chart.linearRange(null, 0, 9)[0]", 0),
    ("$chart.shareRange(null, 0, 0).join()", "-0.03,1.05"),
    ("$chart.shareRange(null, 0.1, 1).join()", "-0.03,1.05"),
    ("$chart.zeroRange(null, -2, -1).join()", "-2,0"),
]


def test_ranges_of_axes(audit):
    page = audit.open(several())
    said = [(asked, page.evaluate(asked)) for asked, _ in RANGES]
    assert said == RANGES


def test_what_is_about_no_tag_is_marked_on_the_loss(audit):
    stall = finding("GL204", "stall", "WARNING", "a", "", (2000, 2100), "Nothing for two hours.")
    page = audit.open(Report((run("a", [stall], healthy("a").curves),)), 0)
    plot = box_of(audit.chart("Loss").locator(".u-over"))
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
    lines = box_of(audit.chart("Gradient norm of each variable").locator(".u-over").nth(1))
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
