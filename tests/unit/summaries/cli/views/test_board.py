"""The page of `gradledger top`, without a terminal: what is on it at any size, and what keys choose."""

import io
import itertools
import os
import warnings

import pytest
from browser.plugin_runs import end_libraries, library_of, log_run, soon
from rich.console import Console

from summaries import NonFiniteWarning, SummaryWriter
from summaries.cli.views.board import Board

ODD = "\x1b[31mred\x07\n\u202e"
RUN = os.fsdecode(ODD.encode())  # as a system without UTF-8 reads it


def console(width=110, height=44, **options):
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=True, legacy_windows=False, **options)


def page(board, **options):
    return "\n".join(line.plain for line in board.lines(console(**options)))


@pytest.fixture
def board(tmp_path):
    """Two good runs, one that diverges, and one with odd names and values."""
    for number in range(2):
        log_run(tmp_path / f"good{number}", number)
    log_run(tmp_path / "diverged", diverges=True)
    with warnings.catch_warnings(), SummaryWriter(tmp_path / RUN) as writer:
        warnings.simplefilter("ignore", NonFiniteWarning)
        for step in range(50):
            writer.add_scalar(ODD, float("nan") if step > 20 else step, step)
    yield Board(library_of(tmp_path), "runs")
    end_libraries()


def test_runs_curve_layers_and_findings_of_the_chosen_run(board):
    board.press("s")
    text = page(board)
    assert "4 runs by worst first" in text
    assert "▶  diverged" in text
    assert "train/loss  " in text
    assert "Gradient norm" in text
    assert "encoder/0/attention" in text
    assert "GL304 loss-diverges  train/loss steps 158 to 399" in text


def test_keys(board):
    chosen = []
    for key in ("down", "j", "up", "page down", "page up", "up", "nothing"):
        board.press(key)
        chosen.append(board.run)
    names = sorted(["diverged", "good0", "good1", RUN])
    assert chosen == [names[1], names[2], names[1], names[3], names[0], names[0], names[0]]
    board.run = "good0"
    board.press("right")
    assert "gradients/global_norm  " in page(board)
    board.press("left")
    assert board.tag == "train/loss"
    board.press("tab")
    assert "Update ratio" in page(board)
    board.press("l")
    assert "train/loss  0.2" in page(board)
    assert "logarithmic" in page(board)


def test_it_fits_every_terminal(board):
    for width, height in itertools.product((1, 9, 20, 60, 200), (1, 2, 5, 12, 30, 80)):
        for run in ("good0", "diverged", RUN):
            board.run = run
            lines = board.lines(console(width, height))
            assert len(lines) <= height, (width, height, run)
            assert all(line.plain.isprintable() for line in lines), (width, height, run)


def test_without_colors_or_braille_there_are_marks(board):
    class Ascii(io.TextIOWrapper):
        encoding = "ascii"

    bare = Console(file=Ascii(io.BytesIO()), width=110, height=44, color_system=None)
    board.run = "good0"
    assert all(line.plain.isascii() for line in board.lines(bare))


def test_a_run_that_grows_and_one_that_goes(board, tmp_path):
    board.run = "good0"
    with SummaryWriter(tmp_path / "good0") as writer:
        writer.add_scalar("train/loss", 77.0, 1234)
    assert soon(lambda: "train/loss  77" in page(board))
    assert "1,234" in page(board)
    for file in (tmp_path / "good0").iterdir():
        file.unlink()
    assert soon(lambda: "3 runs" in page(board))
    assert "▶" in page(board)


def test_nothing_yet(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "waiting for runs" in page(Board(library_of(tmp_path / "empty"), "empty"))
    end_libraries()
