"""A progress bar for the terminal: one step for each run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from summaries.auditing.report.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(total: int | None) -> Iterator[Callable[[str, object], object]]:
    """Show a progress bar on standard error, if that is a terminal and rich is installed.

    Args:
        total: number of runs; None if it is not known yet.

    Yields:
        The callback `on_run(name, result)`: call it after each run. It shows the name and ignores the result.

    >>> with progress_bar(2) as on_run:
    ...     for name in ("first", "second"):
    ...         _ = on_run(name, None)
    """
    try:
        from rich.console import Console  # noqa: PLC0415 - an extra
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415 - an extra
    except ImportError:
        yield lambda _name, _result: None
        return
    console = Console(stderr=True)
    columns = BarColumn(), TaskProgressColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=total)
        yield lambda name, _result: progress.update(task, advance=1, description=printable(name))
