"""What runs logged beside scalars, in gradledger view: images by step, texts, sounds, histograms, PR curves."""

import io
from contextlib import contextmanager

import numpy as np
import pytest
from browser.viewing import fits, looking, serving, soon
from PIL import Image

from summaries import SummaryWriter

HOSTILE = "z <img src=x onerror=window.hacked=1>\u202egpj"
TEXT = "# Title\n<script>window.hacked=1</script> [link](javascript:alert(1))"
STEPS = (0, 10, 20)


def write_runs(root):
    rng = np.random.default_rng(0)
    for k, name in enumerate(("a", "b", HOSTILE)):
        with SummaryWriter(root / name) as writer:
            for step in STEPS[: 3 - k]:
                writer.add_image("sample", np.full((3, 8, 8), 0.1 + step / 40), step)
                writer.add_image(f"{HOSTILE}/image", np.zeros((3, 8, 8)), step)
                writer.add_text("notes", f"{TEXT} at {step}", step)
                writer.add_audio("sound", np.sin(np.arange(800.0) / 5)[None], step, sample_rate=8000)
                writer.add_histogram("weights", rng.normal(step / 10, 1, 500), step)
                writer.add_pr_curve("pr", rng.integers(0, 2, 50), rng.random(50), step)
            writer.add_scalar("loss", 1.0, 0)
    return root


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_runs(tmp_path_factory.mktemp("media"))


@pytest.fixture(scope="module")
def viewer(root):
    with serving(root) as viewer:
        yield viewer


@contextmanager
def looking_at_media(browser, viewer, screenshots, name):
    with looking(browser, viewer, 3, screenshots / f"media_{name}.png") as page:
        page.get_by_role("link", name="Media", exact=True).click()
        page.locator(".media img").first.wait_for()
        yield page


@pytest.fixture
def page(browser, viewer, screenshots, request):
    with looking_at_media(browser, viewer, screenshots, request.node.name.removeprefix("test_")) as page:
        yield page


def kind(page, name):
    page.get_by_role("group", name="Kind").get_by_role("button", name=name).click()


def grey(image):
    """The mean lightness of an image, as it is drawn."""
    return np.asarray(Image.open(io.BytesIO(image.screenshot())).convert("L"))[20:-20, 20:-20].mean()


def captions(section):
    return [one.strip() for one in section.locator("figcaption .thinned").all_inner_texts()]


def test_images_of_several_runs_follow_one_slider(page):
    section = page.locator(".media details").first
    assert soon(page, lambda: captions(section) == ["step 20", "step 10", "step 0"])  # each run's last one
    first = section.locator("img").first
    assert soon(page, lambda: first.evaluate("image => image.naturalWidth") == 8)
    bright = grey(first)
    section.get_by_role("slider").fill("0")
    assert soon(page, lambda: captions(section) == ["step 0", "step 0", "step 0"])
    assert soon(page, lambda: grey(section.locator("img").first) < bright - 50)
    assert "step 0, of 3 steps" in section.inner_text()


def test_runs_and_tags_are_searched(page):
    page.get_by_label("Runs that match").fill("/^b$/")
    section = page.locator(".media details").first
    assert soon(page, lambda: captions(section) == ["step 10"])
    page.get_by_label("Tags that match").fill("/image$/")
    assert soon(page, lambda: page.locator(".media details summary").all_inner_texts() == [f"{HOSTILE}/image"])
    page.reload()
    assert soon(page, lambda: page.locator(".media figure").count() == 1)  # the address holds it


def test_texts_are_only_text(page):
    kind(page, "text")
    texts = page.locator(".media pre")
    assert soon(page, lambda: texts.count() == 3)
    assert texts.first.inner_text() == f"{TEXT} at 20"
    assert texts.first.locator("script, a").count() == 0


def test_sounds_can_be_played(page):
    kind(page, "audio")
    sound = page.locator(".media audio").first
    sound.wait_for()
    seconds = sound.evaluate(
        """audio => new Promise((resolve, reject) => {
            audio.onloadedmetadata = () => resolve(audio.duration);
            audio.onerror = () => reject(audio.error.message);
            audio.load(); audio.preload = "auto";
        })"""
    )
    assert seconds == pytest.approx(0.1, abs=0.01)


def test_histograms_as_heat_maps_and_as_ridges(page):
    kind(page, "histogram")
    canvas = page.locator(".histogram canvas")
    assert soon(page, lambda: canvas.count() == 3)
    assert canvas.first.evaluate("canvas => [canvas.width, canvas.height]") == [3, 64]
    # The mean moves up by one with every step: so does the row that has the most.
    rows = canvas.first.evaluate(
        """canvas => { const {data} = canvas.getContext("2d").getImageData(0, 0, 3, 64);
          return [0, 1, 2].map(x => { let most = 0, at = 0;
            for (let y = 0; y < 64; y++) { const g = data[4 * (3 * y + x) + 1]; if (g > most) [most, at] = [g, y]; }
            return at; }); }"""
    )
    assert rows[0] > rows[1] > rows[2]
    page.get_by_role("button", name="Ridges").click()
    ridges = page.locator(".ridges")
    assert soon(page, lambda: ridges.count() == 3)  # each run's come when they come
    assert ridges.first.locator("path").count() == 3
    assert "steps 0 to 20" in page.locator(".media .readout").first.inner_text()


def test_pr_curves(page):
    kind(page, "PR curve")
    page.locator(".media .pr path").first.wait_for()
    assert len(page.locator(".media .pr path").first.get_attribute("d").split("L")) > 20


def test_what_tensorboard_shows_has_its_command(page, root):
    assert f"tensorboard --logdir {root}" in page.locator(".elsewhere").inner_text()


def test_a_new_step_is_shown(browser, tmp_path, screenshots):
    write_runs(tmp_path)
    with serving(tmp_path) as viewer, looking_at_media(browser, viewer, screenshots, "a_new_step_is_shown") as page:
        section = page.locator(".media details").first
        assert soon(page, lambda: captions(section)[:1] == ["step 20"])
        with SummaryWriter(tmp_path / "a") as writer:
            writer.add_image("sample", np.full((3, 8, 8), 0.9), 30)
        assert soon(page, lambda: captions(section)[:1] == ["step 30"])


@pytest.mark.parametrize(("width", "theme"), [(1400, "light"), (420, "dark")])
def test_it_fits(page, width, theme):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": width, "height": 1000})
    for name in ("histogram", "text", "PR curve", "image"):
        kind(page, name)
        page.locator(".media figure").first.wait_for()
        assert fits(page)
