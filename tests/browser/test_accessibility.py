"""The pages of gradledger view for those who do not see them as drawn: WCAG AA by axe-core, and hostile names apart.

axe-core is installed by `make javascript`, which runs these tests, too; without it, they are skipped.
"""

import json
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from browser.viewing import looking, serving, soon

from summaries import SummaryWriter

AXE = Path(__file__).parents[1] / "javascript" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
ODD = "act=\u202erelu"  # which begins to write from right to left, and never ends that
STEPS = 300
RUNS = 3
NAME = f"lr=0.1_{ODD}"
COLUMNS = json.dumps([f"last:{ODD}/loss", f"at@9:{ODD}/loss", "parameter:lr"])
HERE = quote(NAME, safe="")

# What axe-core finds, one line for each element.
FOUND = """async levels => {
  const { violations } = await axe.run(document, { runOnly: { type: "tag", values: levels } });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`));
}"""
# Texts of ours that stand after an odd name in one piece, and odd names in elements of which they do not end.
LEAKS = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.textContent;
    const at = text.lastIndexOf("\\u202e");
    const element = node.parentElement;
    if (at < 0 || element.closest("script, template")) continue;
    const { unicodeBidi, display } = getComputedStyle(element);
    const ends = display !== "inline" || /isolate|plaintext/.test(unicodeBidi) || element.closest("svg");
    const after = text.slice(at).replace(/^\\u202erelu(\\/[\\w.]+)?/, "");
    const isClosed = after === "" || after.startsWith("\\u2069");
    if (!ends || !isClosed) found.push(`${element.tagName} in ${element.parentElement.className}: ${text}`);
  }
  return found;
}"""

PAGES = {
    "overview": "#/",
    "wall": "#/charts",
    "means": "#/charts?over=%2Flr%3D...%2F&smooth=0.6",
    "table": f"#/table?where={json.dumps({'name': 'lr'}, separators=(',', ':'))}",
    "groups": f"#/table?group=parameter:lr&columns={COLUMNS}",
    "images": "#/media?kind=images",
    "histograms": "#/media?kind=histograms",
    "texts": "#/media?kind=texts",
    "sounds": "#/media?kind=audio",
    "findings": "#/run/broken",
    "odd_findings": f"#/run/{HERE}",
    "layers": f"#/run/{HERE}/layers",
    "clipping": f"#/run/{HERE}/clipping",
    "pair": f"#/pair/{HERE}?with=broken",
}


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory, screenshots):
    root = tmp_path_factory.mktemp("accessible")
    for k, name in enumerate(("broken", NAME, "lr=0.2_plain")):
        with SummaryWriter(root / name) as writer:
            for step in range(STEPS):
                loss = 50.0 if (k, step) == (0, 200) else np.exp(-step / 50) + k
                writer.add_scalar(f"{ODD}/loss", loss, step, 1.79e9 + step)
                writer.add_scalar("train/loss", loss, step, 1.79e9 + step)
                writer.add_scalar("gradients/global_norm", 1.0 + step % 3, step, 1.79e9 + step)
                for layer in (f"{ODD}/w", "b"):
                    writer.add_scalar(f"gradients/norm/{layer}", 1.0 + step % 7, step, 1.79e9 + step)
            for tag in range(13):
                writer.add_scalar(f"{ODD}/{tag}", tag, 0, 1.79e9)
            for step in (0, 10):
                writer.add_image(f"image {ODD}", np.full((3, 8, 8), 0.5), step)
                writer.add_text(f"text {ODD}", f"said {ODD}", step)
                writer.add_histogram(f"weights {ODD}", np.arange(9.0) + step, step)
                writer.add_audio(f"sound {ODD}", np.zeros((1, 800)), step, sample_rate=8000)
    with serving(root) as viewer, looking(browser, viewer, RUNS, screenshots / "accessible.png") as page:
        yield page


def go(page, at, theme="light", width=1400):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 1000})
    page.goto(page.url.split("#")[0] + "#/none")
    page.goto(page.url.split("#")[0] + at)
    page.locator("main section, main .run").first.wait_for()
    assert soon(page, lambda: "waiting" not in page.locator("main").inner_html())
    page.evaluate("document.querySelectorAll('main details').forEach(details => { details.open = true })")
    page.wait_for_timeout(600)  # until charts that come into sight are drawn


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 1400), ("light", 420)])
@pytest.mark.parametrize("name", PAGES)
def test_wcag_aa(page, screenshots, name, theme, width):
    if not AXE.exists():
        pytest.skip("needs axe-core: make javascript")
    go(page, PAGES[name], theme, width)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    page.screenshot(path=screenshots / f"accessible_{name}_{theme}_{width}.png")
    assert page.evaluate(FOUND, LEVELS) == []


@pytest.mark.parametrize("name", PAGES)
def test_an_odd_name_turns_no_other_text(page, name):
    go(page, PAGES[name])
    assert page.evaluate("document.body.innerText.includes('\\u202e')") or name == "findings"
    assert page.evaluate(LEAKS) == []
