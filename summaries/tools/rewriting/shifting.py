"""Shifting: the steps or the times of runs moved on or back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summaries.tools.rewriting.copying import copied
from summaries.tools.rewriting.rewriter import Edit
from summaries.wire.layout import KIND_SCALAR, LOST, VERSION

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from summaries.storage.protocols import StoredFile
    from summaries.tools.rewriting.copying import CopyOptions, Rewritten, Source
    from summaries.wire.index import Index

__all__ = ["shift"]

_HIGHEST = np.iinfo(np.int64).max


def shift(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    steps: int = 0,
    seconds: float = 0.0,
    to_zero: bool = False,
    **options: Unpack[CopyOptions],
) -> Rewritten:
    """Write runs with other steps or times.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        path: a run's directory, a directory of runs, or an event file; a local path or an address.
        output: the new directory, which gets the same tree.
        steps: added to every step; negative to move back. Graphs, texts and other events that are not scalars stop at
            step 0, where settings usually are.
        seconds: added to every time.
        to_zero: move the steps of each run so that its scalars begin at step 0. Its files are then read twice.
        **options: `runs`, patterns of the names of the runs to write (default: all); `on_run`, called with the name of
            each run when it is written; `on_error`, called with the error of each file and each directory that cannot
            be read, while the others are written all the same (default: the error is raised); `storage_options` and
            `cache` for addresses, as in `read_run`.

    Raises:
        ValueError: nothing is to be shifted; both `steps` and `to_zero` are given; or the step of a scalar would be
            below zero, or beyond an int64.
        LookupError: a pattern matches no run.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> place = tempfile.mkdtemp()
    >>> with SummaryWriter(os.path.join(place, "run")) as writer:
    ...     for step in (500, 501):
    ...         writer.add_scalar("loss", 0.5, step)
    >>> _ = shift(os.path.join(place, "run"), os.path.join(place, "moved"), to_zero=True)
    >>> read_run(os.path.join(place, "moved")).scalars["loss"].step
    array([0, 1])
    """
    if steps and to_zero:
        raise ValueError(f"give either steps or to_zero, got steps={steps} and to_zero=True")
    if not (steps or seconds or to_zero):
        raise ValueError("give steps, seconds or to_zero, got none of them")
    if not np.isfinite(seconds):
        raise ValueError(f"seconds must be finite, got {seconds}")

    def edit_of(files: Sequence[StoredFile], source: Source) -> Edit:
        return _Shift(-_first_step(files, source) if to_zero else steps, seconds)

    return copied(path, output, edit_of, **options)


class _Shift(Edit):
    """Adds to steps and times."""

    def __init__(self, steps: int, seconds: float) -> None:
        self.seconds = seconds
        self._steps = steps

    def moves(self, index: Index) -> NDArray[np.int64] | None:
        """What is added to the step of each event."""
        steps, what = index.events["step"], index.events["what"]
        if not self._steps or not len(steps):
            return None
        scalars = _scalar_steps(index)
        lowest, highest = int(scalars.min(initial=0 if not len(scalars) else _HIGHEST)), int(steps.max())
        if len(scalars) and lowest + self._steps < 0 <= lowest:
            raise ValueError(f"a step must stay at or above 0, got {lowest} moved by {self._steps}")
        if highest + self._steps > _HIGHEST:
            raise ValueError(f"a step must stay below 2**63, got {highest} moved by {self._steps}")
        moves = np.where(steps >= 0, np.maximum(-steps, self._steps), self._steps)
        moves[(what == VERSION) | (what == LOST)] = 0
        return moves


def _first_step(files: Sequence[StoredFile], source: Source) -> int:
    """The lowest step of a run's scalars; 0 if it has none."""
    stretches = (_scalar_steps(index) for index in source.stretches(files))
    lowest = min((int(steps.min(initial=_HIGHEST)) for steps in stretches), default=_HIGHEST)
    return 0 if lowest == _HIGHEST else lowest


def _scalar_steps(index: Index) -> NDArray[np.int64]:
    """The step of each scalar."""
    steps: NDArray[np.int64] = index.events["step"][index.values["event"][index.values["kind"] == KIND_SCALAR]]
    return steps
