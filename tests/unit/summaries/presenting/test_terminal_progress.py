"""The progress bar: a step for each run on a terminal, and nothing anywhere else."""

import sys

import pytest

from summaries.presenting.terminal import progress_bar


@pytest.fixture
def drawn(monkeypatch):
    """What rich draws after each run: (name, runs done)."""
    from rich.progress import Progress

    shown, update = [], Progress.update

    def updated(bar, task, **fields):
        update(bar, task, **fields)
        shown.append((bar.tasks[task].description, bar.tasks[task].completed, bar.tasks[task].total))

    monkeypatch.setattr(Progress, "update", updated)
    return shown


def test_a_step_for_each_run(drawn, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar(2) as on_run:
        on_run("a", None)
        on_run("b\x1b[31m", object())
    assert drawn == [("a", 1, 2), ("b\\x1b[31m", 2, 2)]
    out, err = capsys.readouterr()
    assert (out, "100%" in err) == ("", True)


def test_nothing_is_shown_where_no_terminal_is(drawn, capsys, monkeypatch):
    with progress_bar(2) as on_run:
        on_run("a", None)
    monkeypatch.setattr(sys, "stderr", None)  # closed by the program that started us
    with progress_bar(2) as on_run:
        on_run("a", None)
    assert (drawn, capsys.readouterr()) == ([], ("", ""))
