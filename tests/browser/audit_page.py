"""The audit's page in a browser, as tests use it."""

import io

import numpy as np
from browser.dashboard import TIMEOUT
from PIL import Image

from summaries.auditing.report.html import html

EXPLODED = 4  # the position of a run with findings, in `reports.several`


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


def colored(figure):
    """The share of a chart's pixels that are neither its background nor gray."""
    pixels = np.asarray(Image.open(io.BytesIO(figure.locator(".u-wrap").first.screenshot())).convert("RGB"), int)
    return float(np.mean(np.ptp(pixels, axis=2) > 60))
