"""README's moving picture: what `gradledger view` shows of the demo's two runs, page by page."""

import io

from browser.viewing import looking, open_wall, serving, zoom
from PIL import Image

SIZE = {"width": 1000, "height": 620}
SECONDS = 2.5  # that each page stays
COLORS = 128


def take_tour(browser, logdir, to):
    """Look at these runs, as a user would, and write each look as a frame of a GIF."""
    with serving(logdir) as viewer, looking(browser, viewer, 2, to.with_suffix(".png")) as page:
        page.set_viewport_size(SIZE)
        frames = [_frame(page)]  # all runs, and how each one fares
        page.evaluate("location.hash = '#/run/unclipped'")  # what went wrong in this one
        page.locator("figure canvas").first.wait_for()
        frames.append(_frame(page))
        page.evaluate("location.hash = '#/run/unclipped/layers'")  # in which layers
        page.locator("canvas.cells").first.wait_for()
        frames.append(_frame(page))
        wall = open_wall(page, tags="global_norm|test/|train/loss")  # every curve of both
        frames.append(_frame(page))
        zoom(page, wall.locator("figure").first, 0.05, 0.25)
        frames.append(_frame(page))
    to.with_suffix(".png").unlink()
    first, *others = (frame.convert("P", palette=Image.Palette.ADAPTIVE, colors=COLORS) for frame in frames)
    first.save(to, save_all=True, append_images=others, duration=int(1000 * SECONDS), loop=0, optimize=True)


def _frame(page):
    page.mouse.move(0, 0)
    page.wait_for_timeout(1500)  # until all is drawn
    return Image.open(io.BytesIO(page.screenshot()))
