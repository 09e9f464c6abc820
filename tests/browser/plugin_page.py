"""The page `gradledger` inside TensorBoard, as tests use it."""

import io
import re
from urllib.parse import quote

import numpy as np
from browser.dashboard import TIMEOUT, box_of, picture_of, until
from PIL import Image

FRAME = "iframe[src*='name=gradledger']"
SIZES = {"wide": {"width": 1400, "height": 1000}, "narrow": {"width": 700, "height": 1000}}
LOOKS = {"viewport": SIZES["wide"], "reduced_motion": "reduce", "color_scheme": "light"}


class PluginPage:
    """A page of TensorBoard with ours in it; every error and every request that failed is noted."""

    def __init__(self, page, address):
        self.page = page
        self.address = address
        self.errors = []
        page.set_default_timeout(TIMEOUT * 1000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("response", self._note_failure)

    def open(self, at=""):
        """Open one of our addresses, such as #/run/a, as TensorBoard's deep link; the frame.

        TensorBoard itself, which takes seconds, is loaded the first time, or when it shows something else; later, only
        our frame is loaded anew.
        """
        deep = f"#gradledger&p.gradledger.at={quote(at, safe='')}" if at else "#gradledger"
        if self._is_loaded():
            frame = self.page.locator(FRAME).element_handle().content_frame()
            whole = frame.url.partition("#")[0]
            frame.goto("about:blank")
            self.page.evaluate("(deep) => history.replaceState(history.state, '', deep)", deep)
            frame.goto(whole)
        else:
            self.page.goto("about:blank")
            self.page.goto(f"{self.address}/{deep}")
        self.frame.locator("main section").first.wait_for()
        return self.frame

    def forget(self):
        """Forget what a reader chose."""
        if self._is_loaded():
            self.evaluate("localStorage.clear()")

    @property
    def frame(self):
        """Our frame, to look for elements in."""
        return self.page.frame_locator(FRAME)

    def evaluate(self, expression):
        """Evaluate JavaScript in our frame."""
        return self.page.locator(FRAME).element_handle().content_frame().evaluate(expression)

    def top_address(self):
        """What TensorBoard's address says after the `#`."""
        return self.page.evaluate("location.hash")

    def until(self, condition):
        """Whether the condition holds, within the time that a page may take; the page goes on meanwhile."""
        return until(condition, lambda seconds: self.page.wait_for_timeout(1000 * seconds))

    def heat(self, number=0):
        """A heat map, drawn: its canvas."""
        canvas = self.frame.locator("canvas.cells").nth(number)
        assert self.until(lambda: colors(canvas) > 0.2), "the heat map is not drawn"
        return canvas

    def move(self, element, *places):
        """Move the pointer over places in an element, as shares of its width and height; the last place in pixels."""
        box = box_of(element)
        for x, y in places:
            at = box["x"] + x * box["width"], box["y"] + y * box["height"]
            self.page.mouse.move(*at)
        return at

    def read_out(self, canvas, places, pattern):
        """Move the pointer over these places of a picture until what is said of the last one matches; the match."""
        said, found = self.frame.locator(".readout").first, []

        def matches():
            self.move(canvas, *places)
            found[:] = re.findall(pattern, said.inner_text())
            return found

        assert self.until(matches), said.inner_text()
        return found[0]

    def _is_loaded(self):
        return self.page.url.startswith(f"{self.address}/#gradledger") and self.page.locator(FRAME).count() == 1

    def _note_failure(self, response):
        if response.status >= 400 and response.status != 503:
            self.errors.append(f"{response.status} for {response.url}")


def colors(element):
    """The share of an element's pixels that are colored; 0 if it is no longer there."""
    picture = picture_of(element)
    if picture is None:
        return 0.0
    pixels = np.asarray(picture.convert("RGB"), int)
    return float(np.mean(np.ptp(pixels, axis=2) > 60))


def lightness(element):
    """The mean lightness of an element, 0 to 255."""
    return float(np.asarray(Image.open(io.BytesIO(element.screenshot())).convert("L")).mean())
