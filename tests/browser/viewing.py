"""A server of `gradledger view`, and pages of it, as tests use them."""

import threading
from contextlib import contextmanager

from browser.dashboard import TIMEOUT, until

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
