"""TensorBoard with the runs of `log_run` in it, and pages of headless Chromium that look at them."""

import os
import re
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser.audit_page import Page
from browser.dashboard import VIEWPORT, Dashboard, chromium_path, launch, serve, without_errors
from browser.log_run import log_all
from browser.plugin_page import LOOKS, PluginPage


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """These tests come last, in any order; last of all, in their own order, those on pages that stay open and draw."""
    here = Path(__file__).parent

    def place(item):
        stays_open = "pages" in getattr(item, "fixturenames", ())
        return item.path.is_relative_to(here), stays_open, (str(item.path), item.location[1]) if stays_open else ()

    items.sort(key=place)


@pytest.fixture(scope="session")
def logged(tmp_path_factory):
    """The directory of the runs, and each run's final metrics."""
    root = tmp_path_factory.mktemp("logged")
    return root, log_all(root)


@pytest.fixture(scope="session")
def server(logged):
    """loader → the address of a TensorBoard with that loader, which is started when first asked for."""
    addresses = {}
    last_tags = {run.name: "loss/mean" if run.name == "resumed" else "test/loss" for run in logged[0].iterdir()}
    with ExitStack() as running:

        def address(loader):
            if loader not in addresses:
                addresses[loader] = running.enter_context(serve(logged[0], loader, last_tags))
            return addresses[loader]

        yield address


@pytest.fixture(scope="session")
def browser():
    """Chromium; without it, the tests are skipped, but not where CI has to have it."""
    if chromium_path() is None:
        must = os.environ.get("CI") == "true"
        (pytest.fail if must else pytest.skip)("needs Chromium: apt-get install chromium-headless-shell")
    api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'gradledger[dev]'")
    with api.sync_playwright() as playwright:
        running = launch(playwright.chromium)
        yield running
        running.close()


@pytest.fixture(scope="session")
def screenshots(tmp_path_factory):
    """Where screenshots are kept: $GRADLEDGER_SCREENSHOTS, or a directory of pytest's."""
    directory = os.environ.get("GRADLEDGER_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots")
    os.makedirs(directory, exist_ok=True)
    return Path(directory)


@pytest.fixture(scope="session")
def pages(browser, server):
    """loader → a page of its TensorBoard; one for all tests, because to load TensorBoard takes seconds."""
    opened = {}

    def page(loader):
        if loader not in opened:
            opened[loader] = Dashboard(browser.new_page(viewport=VIEWPORT), server(loader))
        return opened[loader]

    return page


@pytest.fixture(params=["python"])
def loader(request):
    """Which of TensorBoard's loaders reads the files; a test that matters to both asks for both."""
    return request.param


@pytest.fixture
def dashboard(pages, loader, screenshots, request):
    """A page that opens a dashboard, and fails the test for any error on it; its screenshot is kept at the end."""
    name = request.node.originalname.removeprefix("test_")
    with without_errors(pages(loader), screenshots / f"{name}-{loader}.png") as opened:
        yield opened
    if name == "projector":  # TensorBoard keeps it, hidden, and it draws on: on a busy machine nothing else is drawn
        opened.page.goto("about:blank")


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


@pytest.fixture
def watched(screenshots, request):
    """page → the page; at the end of the test there was no error on it, and nothing out of a file was run."""
    pages = []

    def watch(page, *, close=False):
        pages.append((page, close))
        return page

    yield watch
    for number, (page, close) in enumerate(pages):
        name = f"plugin-{request.node.name.removeprefix('test_')}-{number}.png"
        page.page.screenshot(path=screenshots / re.sub(r"[^\w.-]", "_", name))
        hacked = page.page.evaluate("[window.hacked, ...Array.from(window, (frame) => frame.hacked)]")
        errors, page.errors[:] = list(page.errors), []
        if close:
            page.page.context.close()
        assert errors == []
        assert set(hacked) == {None}


@pytest.fixture
def opened(browser, watched):
    """address → TensorBoard loaded anew, by a reader who was never there."""

    def open_page(address, **looks):
        return watched(PluginPage(browser.new_context(**{**LOOKS, **looks}).new_page(), address), close=True)

    return open_page
