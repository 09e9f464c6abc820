"""The audit's page in Chromium: the table of runs, rules, looks, odd runs and names; none does harm."""

import io
from dataclasses import replace

import numpy as np
from audits.reports import HOSTILE_RUN, HOSTILE_TAG, curve, exploded, finding, healthy, hostile, run, several
from browser.audit_page import EXPLODED, colored
from browser.dashboard import until
from PIL import Image

from summaries.auditing.findings import Failure, RunReport
from summaries.auditing.reports import Report

RULES = {
    "GL301": "# GL301 non-finite loss\n\nThe loss was `NaN`.\n\n<script>window.hacked=1</script>\n\n"
    "[Pascanu](https://arxiv.org/abs/1211.5063) [bad](javascript:alert(1)) ![x](https://example.org/x.png)\n"
}


def test_overview(audit):
    page = audit.open(replace(several(), baseline="baseline"))
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
    page.locator(".run").wait_for()
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
    page.locator(".run").wait_for()
    assert page.locator("h1").inner_text() == "sweep/1234"
    assert colored(audit.chart("Loss")) > 0.002


def test_no_column_lies_to_the_right_of_a_laptops_window(audit):
    """Of long names, both ends are seen, for runs of a sweep differ at the end."""
    ends = [f"warmup_steps=10000,batch_size=4096,seed={seed}" for seed in range(20)]
    page = audit.open(
        Report((*several().runs, *(exploded("experiment_transformer_large/lr=0.0001," + e) for e in ends)))
    )
    inside = "element => element.scrollWidth <= element.clientWidth"
    for width in (1200, 1000):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(".wide").evaluate(inside)
        names = page.locator("tbody .name")
        assert all(names.nth(row).evaluate(inside) for row in range(names.count()))


def test_on_a_narrow_screen(audit):
    page = audit.open(several(), EXPLODED)
    page.set_viewport_size({"width": 420, "height": 900})
    audit.chart("Loss")
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_runs_are_told_apart_on_a_narrow_screen(audit):
    """Runs of one sweep begin alike, so the ends of their names must be seen, and nothing lies to the right."""
    reports = [run("experiments/llama-7b-finetune-instruct/seed0/lr" + end) for end in ("1e-3", "3e-4")]
    page = audit.open(Report(tuple(reports)))
    page.set_viewport_size({"width": 500, "height": 900})
    names = page.locator("tbody .name a")
    assert [name[-4:] for name in names.all_inner_texts()] == ["1e-3", "3e-4"]
    inside = "element => element.scrollWidth <= element.clientWidth"
    assert page.locator(".wide").evaluate(inside)
    assert all(page.locator("tbody .name").nth(row).evaluate(inside) for row in range(2))


def test_on_paper(audit):
    page = audit.open(several(), EXPLODED)
    audit.chart("Loss")
    widths = "[...document.querySelectorAll('.uplot canvas')].map((canvas) => canvas.clientWidth)"
    on_the_screen = page.evaluate(widths)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".tools").first.is_hidden()
    on_paper = page.evaluate(widths)
    assert len(on_paper) >= len(on_the_screen)
    assert 500 < min(on_paper) <= max(on_paper) <= 700 < max(on_the_screen)
    # Without it, a browser leaves out backgrounds, which a legend's marks are.
    printed = "element => getComputedStyle(element).printColorAdjust"
    assert page.locator(".u-legend .u-marker").nth(1).evaluate(printed) == "exact"
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(widths)[: len(on_the_screen)] == on_the_screen
