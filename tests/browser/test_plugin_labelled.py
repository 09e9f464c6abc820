"""Our page in TensorBoard says of the labelled runs what the audit finds, and each of its views opens on them."""

from urllib.parse import quote

import pytest
from browser.dashboard import serve
from browser.plugin_page import PluginPage
from labelled.logdir import write_all

from summaries import audit


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    return write_all(tmp_path_factory.mktemp("labelled"))


def test_what_is_found_in_labelled_runs(browser, logdir):
    report = audit(logdir)
    found = {run.name: sorted(finding.code for finding in run.findings) for run in report.runs}
    with serve(logdir, "rust", {}) as address:
        plugin = PluginPage(browser.new_context(viewport={"width": 1400, "height": 1000}).new_page(), address)
        frame = plugin.open()
        assert plugin.until(lambda: frame.locator("#tally .state").count() == 0)
        assert sorted(frame.locator("tbody th.name a").all_inner_texts()) == sorted(found)
        for name in list(found)[::5]:
            run = f"#/run/{quote(name, safe='')}"
            frame = plugin.open(run)
            frame.locator("h1", has_text=name).wait_for()
            assert plugin.until(lambda: frame.locator(".finding").count() == len(found[name]))  # noqa: B023
            assert sorted(text.split()[0] for text in frame.locator(".finding b").all_inner_texts()) == found[name]
            for view in ("layers", "clipping"):
                plugin.open(f"{run}/{view}").locator("h1", has_text=name).wait_for()
        first, second = list(found)[:2]
        frame = plugin.open(f"#/pair/{quote(first, safe='')}?with={quote(second, safe='')}")
        frame.locator("h1", has_text=second).wait_for()
        assert plugin.errors == []
        plugin.page.context.close()
