"""TensorBoard as a process, and one of its dashboards as a page that can be asked what it shows."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import time
import urllib.request
from contextlib import contextmanager

import numpy as np
from PIL import Image
from processes.servers import TIMEOUT, running

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
    "--disable-dev-shm-usage",  # which is small in containers
    # WebGL in software, for the meshes and the projector.
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
LOADERS = {"python": "--load_fast=false", "rust": "--load_fast=true"}
VIEWPORT = {"width": 1720, "height": 1200}


def chromium_path():
    """Where the system's Chromium is; None where it has none.

    Debian's `chromium-headless-shell` is the same engine without a browser around it, at half the processor time.
    """
    return shutil.which("chromium-headless-shell") or shutil.which("chromium") or shutil.which("chromium-browser")


def launch(chromium):
    """Start Playwright's Chromium, which may take long the first time."""
    return chromium.launch(executable_path=chromium_path(), args=ARGUMENTS, timeout=1000 * TIMEOUT)


@contextmanager
def serve(logdir, loader, last_tags):
    """TensorBoard's address, once it has loaded from `logdir` what `last_tags` has as each run's last tag."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), LOADERS[loader]]
    command += ["--host", "127.0.0.1", "--port", "0", "--reload_interval", "5"]
    log = logdir.parent / f"{logdir.name}-{loader}.log"
    with running(command, log) as (process, address):
        loaded = until(lambda: process.poll() is not None or _loaded(address, last_tags)) and process.poll() is None
        assert loaded, f"TensorBoard has not loaded {logdir}: {log.read_text(encoding='utf-8', errors='replace')}"
        yield address


@contextmanager
def dashboard_apart(browser, logdir, last_tags):
    """A page of TensorBoard, in a browser of its own: one draws in sixteen WebGL contexts at most."""
    with serve(logdir, "python", last_tags) as address:
        own = launch(browser.browser_type)
        yield Dashboard(own.new_page(viewport=VIEWPORT), address)
        own.close()


@contextmanager
def without_errors(dashboard, picture):
    """Keep a screenshot when a test is done with a dashboard, and fail it for any error on the page."""
    yield dashboard
    dashboard.page.screenshot(path=picture)
    errors, dashboard.errors[:] = list(dashboard.errors), []
    assert errors == []


def until(condition, pause=time.sleep, timeout=TIMEOUT):
    """Whether the condition holds, within the time that a page may take."""
    deadline = time.monotonic() + timeout
    while not (holds := condition()) and time.monotonic() < deadline:
        pause(0.1)
    return holds


def box_of(element):
    """Where an element is, as soon as it is anywhere: one that a page is just drawing anew has no place."""
    boxes = []

    def is_placed():
        boxes.append(element.bounding_box())
        return boxes[-1] is not None

    assert until(is_placed, lambda seconds: element.page.wait_for_timeout(1000 * seconds)), "it is not drawn"
    return boxes[-1]


def picture_of(element):
    """Scroll to an element; a picture of it, or None if the page has put another one in its place meanwhile."""
    from playwright.sync_api import Error  # tests are collected without it, too

    try:
        element.scroll_into_view_if_needed()
        return Image.open(io.BytesIO(element.screenshot()))
    except Error as error:
        if not re.search("not attached|not visible or not an", str(error)):
            raise
        return None


class Dashboard:
    """A page with a dashboard. Waits are for what must be there, and fail when it does not come."""

    def __init__(self, page, address):
        self.page = page
        self.errors = []
        self._address = address
        page.set_default_timeout(TIMEOUT * 1000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("response", self._note_failure)

    def open(self, name):
        """Open the dashboard."""
        self.page.goto(f"{self._address}/#{name}")

    def until(self, condition, timeout=TIMEOUT):
        """Whether the condition holds, within the time that a page may take; the page goes on meanwhile."""
        return until(condition, lambda seconds: self.page.wait_for_timeout(1000 * seconds), timeout)

    def expand(self, group):
        """Open a group of tags that TensorBoard leaves closed."""
        heading = self.wait_for_text("tf-category-paginated-view .heading", group)
        if heading.get_attribute("open-button") is None:
            heading.click()

    def wait_for(self, selector, count=1):
        """Wait until so many elements, at least, are shown; they, as a locator."""
        found = self.page.locator(selector).filter(visible=True)
        assert self.until(lambda: found.count() >= count), f"{found.count()} of {count} {selector!r}"
        return found

    def wait_for_text(self, selector, text):
        """Wait until an element with this text in it is shown; the first of them."""
        first = self.page.locator(selector).filter(has_text=text).filter(visible=True).first
        first.wait_for()
        return first

    def wait_until_still(self, element):
        """Wait until an element does not move any more."""
        element.element_handle().wait_for_element_state("stable")

    def insist(self, act, shown):
        """Do something, such as a click, until elements are shown: TensorBoard loses clicks while it draws anew."""

        def done():
            act()
            return self.until(shown.filter(visible=True).count, timeout=5)

        assert self.until(done), "nothing came of it"

    def hover_chart(self, chart, is_whole):
        """What the tooltip says where the chart's lines end: run → smoothed, value and step.

        Lines are drawn one by one, and the axes move meanwhile: it is read until `is_whole` of it, or time is up.
        """
        chart.scroll_into_view_if_needed()
        rows, said = self.page.locator("table tr"), {}

        def is_said():
            box = box_of(chart)
            for share in (0.5, 0.93):  # a mouse that moves
                self.page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
            cells = [row.split("\t") for row in rows.all_inner_texts()]
            said.clear()
            said.update({row[1]: row[2:5] for row in cells if len(row) > 4})
            return is_whole(said)

        self.until(is_said)
        return said

    def wait_until_drawn(self, find):
        """Wait until there are colors in what `find` finds; a browser short of time may lose what WebGL drew."""
        for _ in range(9):
            if self.until(lambda: self.drawn(find()) > 0.002, timeout=20):
                return
            self.page.reload()  # which draws it again
        raise AssertionError("nothing was drawn")

    def scalars(self, run, tag):
        """The points that the page gets of a tag: wall time, step and value of each."""
        address = f"{self._address}/data/plugin/scalars/scalars"
        return self.page.request.get(address, params={"run": run, "tag": tag}).json()

    def drawn(self, element):
        """The share of an element's pixels that are colored: what WebGL drew can be read no other way."""
        picture = picture_of(element)
        if picture is None:
            return 0.0
        pixels = np.asarray(picture.convert("RGB"), int)
        return float(np.mean(np.ptp(pixels, axis=2) > 40))

    def ink(self, element):
        """The share of an element's pixels that are dark."""
        pixels = np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("L"))
        return float(np.mean(pixels < 100))

    def _note_failure(self, response):
        if response.status >= 500:
            self.errors.append(f"{response.status} for {response.url}")


def _loaded(address, last_tags):
    """Whether the last tag of every run is there."""
    try:
        url = f"{address}/data/plugin/scalars/tags"
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:  # noqa: S310 - our own server
            tags = json.load(response)
    except OSError:
        return False
    return all(tag in tags.get(run, ()) for run, tag in last_tags.items())
