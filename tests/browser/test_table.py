"""The table of runs of gradledger view, in Chromium: cells, sorting, filters, groups, plots, copies, hostile names."""

import csv
import io
import json
import re
from contextlib import contextmanager

import numpy as np
import pytest
from browser.dashboard import box_of
from browser.viewing import fits, looking, serving, soon

from summaries import SummaryWriter

STEPS = 200
LRS = (0.001, 0.01, 0.1)
HOSTILE = "z\u202egpj <img src=x onerror=window.hacked=1>_act==1+1 " + 90 * "x"
NONE = "\N{EN DASH}"
RUNS = 2 * len(LRS) + 1


def write_runs(root):
    for k, lr in enumerate(LRS):
        for seed in (0, 1):
            with SummaryWriter(root / f"lr={lr}_seed={seed}") as writer:
                for step in range(STEPS):
                    loss = k + 1 + seed / 10 + np.exp(-step / 50)
                    writer.add_scalar("val/loss", loss, step, 1.79e9 + step)
                    if step % 10 == 0:
                        writer.add_scalar("val/accuracy", 0.9 - k / 10 if step < 100 else 0.5, step, 1.79e9 + step)
    with SummaryWriter(root / HOSTILE) as writer:
        writer.add_text("config", '{"act": "<script>window.hacked=1</script>", "width": 64}')
        writer.add_scalar(f"val/{HOSTILE[:60]}", 1.0, 0, 1.79e9)
    return root


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    with serving(write_runs(tmp_path_factory.mktemp("table"))) as viewer:
        yield viewer


@contextmanager
def looking_at_table(browser, viewer, screenshots, name):
    with looking(browser, viewer, RUNS, screenshots / f"table_{re.sub('[^a-z0-9]+', '_', name)}.png") as page:
        page.get_by_role("link", name="Table", exact=True).click()
        page.locator(".runs-table tbody tr").nth(RUNS - 1).wait_for()
        yield page


@pytest.fixture
def page(browser, viewer, screenshots, request):
    with looking_at_table(browser, viewer, screenshots, request.node.name.removeprefix("test_")) as page:
        yield page


def heads(page):
    """The titles of all columns."""
    return [
        re.sub(r"\s*\N{MULTIPLICATION SIGN}$", "", one)
        for one in page.locator(".runs-table thead th").all_inner_texts()
    ]


def rows(page):
    """The texts of all rows' cells, by column; all of them at once, since the page may draw them anew meanwhile."""
    cells = "lines => lines.map(line => [...line.querySelectorAll('td, th')].map(cell => cell.innerText.trim()))"
    names, lines = heads(page), page.locator(".runs-table tbody tr").evaluate_all(cells)
    return [dict(zip(names, line, strict=True)) for line in lines]


def column(page, name):
    return [row[name] for row in rows(page)]


def add_column(page, measure, tag, step=None):
    page.locator(".columns").evaluate("details => { details.open = true }")
    page.get_by_label("Which value").select_option(measure)
    if step is not None:
        page.get_by_label("Step", exact=True).fill(str(step))
    page.get_by_label("Tag", exact=True).fill(tag)
    page.get_by_role("button", name="Add column").click()


def test_hyperparameters_values_and_verdicts(page):
    first = rows(page)[0]
    assert first["Run"] == "lr=0.001_seed=0"
    assert (first["lr"], first["seed"]) == ("0.001", "0")
    last = 1 + np.exp(-(STEPS - 1) / 50)
    assert float(first["val/loss, last"]) == pytest.approx(last, rel=1e-3)
    assert first["Steps"] == str(STEPS)
    assert first["Took"] == "3 min 19 s"
    assert page.locator(".runs-table tbody td .sign").count() == RUNS


def test_columns_of_any_tag_last_best_and_at_a_step(page):
    add_column(page, "largest", "val/accuracy")
    assert soon(page, lambda: "val/accuracy, largest" in " ".join(heads(page)))
    assert column(page, "val/accuracy, largest")[:RUNS] == ["0.9", "0.9", "0.8", "0.8", "0.7", "0.7", NONE]
    add_column(page, "at", "val/accuracy", 105)  # between the points of 100 and 110
    assert soon(page, lambda: "val/accuracy at 105" in " ".join(heads(page)))
    assert column(page, "val/accuracy at 105") == [*["0.5"] * 6, NONE]
    page.reload()
    page.locator(".runs-table tbody tr").nth(RUNS - 1).wait_for()
    assert "val/accuracy at 105" in " ".join(heads(page))  # the address holds it
    page.get_by_role("link", name="All charts").click()
    page.locator(".wall").wait_for()
    page.get_by_role("link", name="Table", exact=True).click()
    page.locator(".runs-table tbody tr").nth(RUNS - 1).wait_for()
    assert "val/accuracy at 105" in " ".join(heads(page))  # it is as it was left
    page.get_by_role("button", name="Hide val/accuracy at 105").click()
    assert soon(page, lambda: "val/accuracy at 105" not in " ".join(heads(page)))
    add_column(page, "last", "nothing like it")
    assert page.get_by_label("Tag", exact=True).evaluate("field => field.validationMessage") == (
        "No run has scalars with this tag."
    )


def test_the_next_column_is_chosen_while_one_comes(page):
    held = []
    page.route("**/data/table?*", lambda route: route.continue_() if held else held.append(route))
    add_column(page, "largest", "val/accuracy")
    assert soon(page, lambda: held)
    page.get_by_label("Which value").select_option("smallest")
    page.get_by_label("Tag", exact=True).fill("val/los")
    held[0].continue_()
    assert soon(page, lambda: "val/accuracy, largest" in heads(page))
    assert page.get_by_label("Which value").input_value() == "smallest"
    assert page.get_by_label("Tag", exact=True).input_value() == "val/los"


def test_sorting_by_keyboard(page):
    page.locator("thead button[title='val/loss, last']").focus()
    page.keyboard.press("Enter")
    assert soon(page, lambda: column(page, "lr")[:6] == ["0.001", "0.001", "0.01", "0.01", "0.1", "0.1"])
    page.locator("thead button[title='val/loss, last']").click()
    assert soon(page, lambda: column(page, "Run")[0] == "lr=0.1_seed=1")
    assert column(page, "val/loss, last")[-1] == NONE  # what is missing stays last
    assert page.locator("th[aria-sort=descending]").inner_text().startswith("val/loss, last")


def test_filters_and_the_charts_of_what_is_left(page):
    page.get_by_label("Filter lr").fill(">= 0.01")
    page.get_by_label("Filter seed").fill("= 1")
    assert soon(page, lambda: column(page, "Run") == ["lr=0.01_seed=1", "lr=0.1_seed=1"])
    assert "2 of 7 runs" in page.locator("section.table .note").first.inner_text()
    page.get_by_label("Runs that match").fill("/(/")
    assert soon(
        page, lambda: "Unterminated group" in (page.get_by_label("Runs that match").get_attribute("title") or "")
    )
    page.get_by_role("link", name="Charts of 2 runs").click()
    page.locator(".wall .runs li").first.wait_for()
    assert [one.strip() for one in page.locator(".wall .runs li").all_inner_texts()] == [
        "lr=0.01_seed=1",
        "lr=0.1_seed=1",
    ]
    assert "2 of 7 runs" in page.locator(".wall .note").first.inner_text()


def test_picked_runs_have_the_same_colors_on_the_wall(page):
    line = page.locator(".runs-table tr", has_text="lr=0.1_seed=0")
    line.get_by_role("checkbox").check()
    color = line.locator(".mark").evaluate("mark => getComputedStyle(mark).backgroundColor")
    page.get_by_role("link", name="Charts of 1 run").click()
    item = page.locator(".wall .runs li")
    item.first.wait_for()
    assert item.all_inner_texts() == ["lr=0.1_seed=0"]
    shown = "item => getComputedStyle(item, '::before').backgroundColor"
    assert item.first.evaluate(shown) == color
    page.go_back()
    page.locator(".runs-table tr.picked").first.wait_for()  # the choice stays
    assert page.locator(".runs-table tr.picked").count() == 1


def test_groups_with_means(page):
    page.get_by_label("Group by", exact=True).select_option("parameter:lr")
    group = page.locator("tr.group")
    assert soon(page, lambda: group.count() == 4)
    assert "lr = 0.001: 2 runs" in group.first.inner_text()
    mean = 1.05 + np.exp(-(STEPS - 1) / 50)
    told = group.first.locator("th, td").nth(heads(page).index("val/loss, last"))
    assert re.match(rf"{mean:.3f}\d? ± 0\.071", told.inner_text())
    cells = group.first.locator("th, td").all_inner_texts()
    assert [cells[heads(page).index(name)] for name in ("lr", "seed")] == ["0.001", ""]  # no mean of seeds
    assert page.locator(".runs-table tbody tr").count() == 4 + RUNS
    group.first.get_by_role("button").click()
    assert soon(page, lambda: page.locator(".runs-table tbody tr").count() == 4 + RUNS - 2)


def test_a_brush_filters_and_a_click_lets_all_pass_again(page):
    axis = page.locator(".parallel .axis", has_text="lr").locator("line").first
    box = box_of(axis)
    page.mouse.move(box["x"], box["y"] - 3)
    page.mouse.down()
    page.mouse.move(box["x"], box["y"] + 0.6 * box["height"], steps=5)
    page.mouse.up()
    assert soon(page, lambda: column(page, "lr") == ["0.01", "0.01", "0.1", "0.1"])
    assert page.get_by_label("Filter lr").input_value() == "0.01..0.1"
    assert page.locator(".parallel path.out").count() == 3
    assert page.locator(".scatter circle.out").count() == 2  # the hostile run has no place there
    page.get_by_role("button", name="Show all runs").click()
    assert soon(page, lambda: len(rows(page)) == RUNS)


def test_the_scatter_is_as_large_as_what_it_shows(browser, tmp_path, screenshots):
    for k, lr in enumerate((0.1, 0.2, 0.3, None)):
        with SummaryWriter(tmp_path / f"run{k}") as writer:
            if lr is not None:
                writer.add_hparams({"lr": lr}, {"loss": lr})
            writer.add_scalar("loss", 1000.0 if lr is None else lr, 1)  # far away, and without a learning rate
    with serving(tmp_path) as viewer, looking(browser, viewer, 4, screenshots / "table_scatter.png") as page:
        page.get_by_role("link", name="Table", exact=True).click()
        page.get_by_label("Across", exact=True).select_option("parameter:lr")
        page.get_by_label("Up", exact=True).select_option("last:loss")
        points = page.locator(".scatter circle")
        assert soon(page, lambda: points.count() == 3)
        heights = [float(points.nth(k).get_attribute("cy")) for k in range(3)]
        assert heights[0] - heights[2] > 150  # CSS pixels of 240
        assert "1,000" not in page.locator(".scatter .tick").all_inner_texts()


def test_the_scatter_picks_and_brushes(page):
    page.get_by_label("Across", exact=True).select_option("parameter:lr")
    page.get_by_label("Up", exact=True).select_option("last:val/loss")
    points = page.locator(".scatter circle")
    assert soon(page, lambda: points.count() == RUNS - 1)
    said = points.first.locator("title").text_content()
    assert said.startswith("lr=0.001_seed=0\nlr: 0.001\nval/loss, last: ")
    points.first.click()
    assert soon(page, lambda: page.locator("tr.picked").count() == 1)
    high = max((box_of(points.nth(k)) for k in range(RUNS - 1)), key=lambda box: box["x"])
    page.mouse.move(high["x"] - 15, high["y"] - 30)
    page.mouse.down()
    page.mouse.move(high["x"] + 25, high["y"] + 40, steps=5)
    page.mouse.up()
    assert soon(page, lambda: set(column(page, "lr")) == {"0.1"})


def test_copy_and_csv_are_what_is_shown_in_full_precision(page):
    page.get_by_label("Filter lr").fill("= 0.001")
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    told = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"), newline="")))
    assert told[0][:4] == ["run", "Verdict", "lr", "seed"]
    assert [line[0] for line in told[1:]] == ["lr=0.001_seed=0", "lr=0.001_seed=1"]
    assert float(told[1][4]) == float(np.float32(1 + np.exp(-(STEPS - 1) / 50)))
    page.get_by_role("button", name="Copy").click()
    assert soon(page, lambda: "Copied 2 runs" in page.locator("section.table .note").first.inner_text())
    copied = page.evaluate("navigator.clipboard.readText()")
    assert [line.split("\t")[2] for line in copied.splitlines()] == ["lr", "0.001", "0.001"]


def test_among_many_columns_one_is_looked_for(browser, tmp_path, screenshots):
    parameters = {f"layer{k}.width": k for k in range(40)} | {"Dropout": 0.5}
    for name in ("a", "b"):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_text("config", json.dumps(parameters))
            writer.add_scalar("loss", 1.0, 0)
    shot = screenshots / "table_many_columns.png"
    with serving(tmp_path) as viewer, looking(browser, viewer, 2, shot) as page:
        page.get_by_role("link", name="Table", exact=True).click()
        page.get_by_text("Choose columns").click()
        labels = page.locator(".boxes label:visible")
        assert soon(page, lambda: labels.count() > len(parameters))
        page.get_by_label("Find a column").fill("drop")
        assert labels.all_inner_texts() == ["Dropout"]
        labels.get_by_role("checkbox").check()
        assert soon(page, lambda: "Dropout" in " ".join(heads(page)))
        assert labels.all_inner_texts() == ["Dropout"]  # it is still looked for
        page.get_by_label("Find a column").fill("")
        assert labels.count() > len(parameters)


def test_hostile_names_are_only_text(page):
    page.locator(".columns").evaluate("details => { details.open = true }")
    page.locator("[data-column='parameter:act']").check()
    assert soon(page, lambda: "act" in " ".join(heads(page)))
    line = page.locator(".runs-table tr[data-run^='z']")
    assert "<img" in line.inner_text()
    assert line.locator("img, script").count() == 0
    assert line.locator("bdi").count() >= 1
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    told = list(csv.reader(io.StringIO(download.value.path().read_text(encoding="utf-8"), newline="")))
    assert told[-1][0] == HOSTILE


def test_a_run_that_grows_keeps_the_focus_and_the_choice(browser, tmp_path, screenshots):
    write_runs(tmp_path)
    with serving(tmp_path) as viewer, looking_at_table(browser, viewer, screenshots, "a_run_that_grows") as page:
        box = page.locator(".runs-table tr", has_text="lr=0.01_seed=0").get_by_role("checkbox")
        box.check()
        box.focus()
        with SummaryWriter(tmp_path / "lr=0.001_seed=0") as writer:
            writer.add_scalar("val/loss", 77.0, STEPS, 1.79e9 + STEPS)
        assert soon(page, lambda: column(page, "val/loss, last")[0] == "77")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Pick lr=0.01_seed=0"
        assert page.locator("tr.picked").count() == 1


def test_a_server_that_goes_away_leaves_the_table(browser, viewer, screenshots):
    with looking(browser, viewer, RUNS, screenshots / "table_gone.png", allowed="status of 500") as page:
        page.goto(page.url.split("#")[0] + "#/table")
        page.locator(".runs-table tbody tr").nth(RUNS - 1).wait_for()
        page.route("**/data/table?*", lambda route: route.fulfill(status=500, body="gone"))
        page.get_by_role("button", name="Hide seed").click()
        assert soon(page, lambda: page.locator("section.table .note").first.inner_text().startswith("500 "))
        assert len(page.locator(".runs-table tbody tr").all()) == RUNS
        page.unroute("**/data/table?*")
        page.get_by_role("button", name="Hide Took").click()
        assert soon(page, lambda: "seed" not in heads(page) and "Took" not in heads(page))


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (1400, "dark"), (420, "light"), (420, "dark")])
def test_no_column_is_cut_off(page, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 1000})
    add_column(page, "largest", "val/accuracy")
    add_column(page, "smallest", "val/accuracy")
    assert soon(page, lambda: {"val/accuracy, largest", "val/accuracy, smallest"} <= set(heads(page)))
    assert soon(page, lambda: NONE not in column(page, "val/accuracy, smallest")[:-1])  # the values have come
    assert fits(page)
    box = page.locator(".runs-table")
    box.evaluate("box => { box.scrollLeft = box.scrollWidth }")
    edges = box_of(box)
    last = box_of(page.locator(".runs-table thead th").last)
    assert last["x"] + last["width"] <= edges["x"] + edges["width"] + 1
    name = box_of(page.locator(".runs-table tbody th").first)
    assert abs(name["x"] - edges["x"]) <= 2  # the names stay in sight
