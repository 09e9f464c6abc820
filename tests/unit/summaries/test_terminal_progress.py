"""The progress bar: a step for each run on a terminal, and nothing anywhere else."""

import pytest

from summaries.terminal import progress_bar


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


def test_a_step_for_each_run(drawn, capsys):
    with progress_bar(2) as on_run:
        on_run("a", None)
        on_run("b\x1b[31m", object())
    assert drawn == [("a", 1, 2), ("b\\x1b[31m", 2, 2)]
    assert capsys.readouterr() == ("", "")
