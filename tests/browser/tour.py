"""README's moving picture: what `gradledger view` shows of the demo's two runs, page by page."""

import io

from browser.viewing import looking, open_wall, serving, zoom
from PIL import Image

SIZE = {"width": 1400, "height": 800}
SECONDS = 2.5  # that each page stays


def take_tour(browser, logdir, to):
    """Look at these runs, as a user would, and write what is seen as an animated PNG, which keeps all colors."""
    with serving(logdir) as viewer, looking(browser, viewer, 2, to) as page:
        page.set_viewport_size(SIZE)
        frames = []
        _turn_to(page, "#/run/unclipped", "figure canvas")  # what went wrong in this run, …
        frames.append(_frame(page))
        _turn_to(page, "#/run/unclipped/layers", "canvas.cells")  # … in which layers, …
        frames.append(_frame(page))
        wall = open_wall(page, tags="/global_norm|accuracy|train.loss/")  # … and beside the other run
        frames.append(_frame(page))
        zoom(page, wall.locator("figure").first, 0.05, 0.25)
        frames.append(_frame(page))
        _turn_to(page, "#/", ".overview")
        frames.append(_frame(page))
    first, *others = frames
    first.save(to, save_all=True, append_images=others, duration=int(1000 * SECONDS), loop=0, optimize=True)


def _turn_to(page, where, drawn):
    page.evaluate("hash => { location.hash = hash }", where)
    page.locator(drawn).first.wait_for()


def _frame(page):
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)  # until all is drawn
    return Image.open(io.BytesIO(page.screenshot()))
