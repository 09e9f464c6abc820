"""A server of `gradledger view`, and pages of it, as tests use them."""

import re
import threading
from contextlib import contextmanager

from browser.dashboard import TIMEOUT, box_of, until

from summaries.integrations.viewer import Viewer


@contextmanager
def serving(logdir):
    """A viewer of these runs, which is closed at the end."""
    viewer = Viewer([str(logdir)])
    thread = threading.Thread(target=viewer.run, daemon=True)
    thread.start()
    yield viewer
    viewer.close()
    thread.join()


@contextmanager
def looking(browser, viewer, runs, picture, *, allowed=None):
    """A page that has read so many runs; at the end there was no error on it, and nothing from a file was run.

    Errors that have `allowed` in them are what the test makes.
    """
    context = browser.new_context(
        viewport={"width": 1400, "height": 1000}, reduced_motion="reduce", accept_downloads=True
    )
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(TIMEOUT * 1000)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(viewer.address)
    page.locator(".overview tbody tr").nth(runs - 1).wait_for()
    assert soon(page, lambda: page.locator("tr.pending").count() == 0)
    yield page
    page.screenshot(path=picture, full_page=True)
    hacked = page.evaluate("window.hacked")
    context.close()
    assert [error for error in errors if allowed is None or allowed not in error] == []
    assert hacked is None


def soon(page, condition):
    """Whether the condition holds before long; the page goes on meanwhile."""
    return until(condition, lambda seconds: page.wait_for_timeout(1000 * seconds))


def fits(page):
    """Whether the page itself does not scroll sideways."""
    return page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def address(page):
    """The page's address. The page itself is asked: Playwright's `url` may lag behind."""
    return page.evaluate("location.href")


def open_wall(page, **chosen):
    page.evaluate("hash => { location.hash = hash }", "#/charts?" + "&".join(f"{k}={v}" for k, v in chosen.items()))
    page.locator(".wall .uplot canvas").first.wait_for()
    return page.locator(".wall")


def values(figure):
    """What is said below a chart: where, and each run's value."""
    where, *said = figure.locator(".readout li").all_inner_texts() or [""]  # it is just being drawn anew
    pairs = [re.fullmatch(r"(?s)(.*?)\s*([-\d.e+]+)", one).groups() for one in said]
    return where, {name: float(value) for name, value in pairs}


def drag(page, figure, low, high):
    box = box_of(figure.locator(".u-over"))
    page.mouse.move(box["x"] + low * box["width"], box["y"] + 90)
    page.mouse.down()
    page.mouse.move(box["x"] + high * box["width"], box["y"] + 90, steps=4)
    page.mouse.up()


def zoomed(page):
    """The steps in the address."""
    link = address(page)
    return [float(re.search(rf"{end}=([\d.]+)", link)[1]) for end in ("from", "to") if f"{end}=" in link]


def zoom(page, figure, low, high):
    """Drag until the address has another range: a chart that is just being drawn anew takes no drag."""
    before = zoomed(page)

    def is_done():
        drag(page, figure, low, high)
        return zoomed(page) != before

    assert soon(page, is_done)


def written(page):
    """What is written on canvases from now on: a function that tells the texts."""
    page.evaluate(
        """() => {
          const write = CanvasRenderingContext2D.prototype.fillText;
          window.written = [];
          CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
            window.written.push(text);
            return write.call(this, text, ...place);
          };
        }"""
    )
    return lambda: page.evaluate("window.written.splice(0)")
