"""README's figures are where `make pictures` writes them, and say what the event files say."""

import pytest
from browser import pictures

from summaries import SummaryWriter


def test_the_figures_are_those_of_the_files(tmp_path):
    for name, accuracy, norms in (("clipped", 356 / 360, [2.0, 3.0]), ("unclipped", 33 / 360, [2.5, 2.6, 457.3])):
        with SummaryWriter(tmp_path / name) as writer:
            for step, norm in enumerate(norms):
                writer.add_scalar("gradients/global_norm", norm, step)
            writer.add_scalar("test/accuracy", accuracy, 3)
    assert pictures.figures(tmp_path) == (
        "In the pictures, the clipped network reads 356 of 360 test digits, the unclipped one 33 of 360 test digits.\n"
        "The norm of the unclipped gradient has a median of 2.6 in the first ten steps, and is 457 at most.\n"
    )


def test_readme_has_one_place_for_them():
    readme = pictures.README.read_text(encoding="utf-8")
    once = pictures.with_figures(readme, "New.\n")
    assert once.count("New.\n") == 1
    assert pictures.with_figures(once, "New.\n") == once
    message = f"README.md must have one {pictures.BEGIN!r} and one {pictures.END!r} after it"
    with pytest.raises(ValueError, match=r"^README\.md must") as raised:
        pictures.with_figures(readme.replace(pictures.END, ""), "New.\n")
    assert str(raised.value) == message
