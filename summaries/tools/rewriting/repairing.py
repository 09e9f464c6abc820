"""Repairing: whole files out of damaged ones, and what was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from summaries.tools.rewriting.copying import copied
from summaries.tools.rewriting.rewriter import Edit

if TYPE_CHECKING:
    import os
    from typing import Unpack

    from summaries.tools.rewriting.copying import CopyOptions, Rewritten

__all__ = ["repair"]


def repair(path: str | os.PathLike[str], output: str | os.PathLike[str], **options: Unpack[CopyOptions]) -> Rewritten:
    r"""Write whole event files out of damaged ones.

    Every undamaged record is kept byte for byte. What lies between them is left out: damaged records, records that are
    not events, zeros, and the end of a record that was cut off. Tags that are not UTF-8, at which TensorBoard fails,
    are kept with their bytes escaped, as `\xff`.

    A kill or a loss of power leaves nothing of the output, or all; when this returns, a local one is on the disk.

    Args:
        path: a run's directory, a directory of runs, or an event file; a local path or an address.
        output: the new directory, which gets the same tree. Files that contain no event are not written.
        **options: `runs`, patterns of the names of the runs to write (default: all); `on_run`, called with the name of
            each run when it is written; `on_error`, called with the error of each file and each directory that cannot
            be read, while the others are written all the same (default: the error is raised); `storage_options` and
            `cache` for addresses, as in `read_run`.

    Returns:
        What was written; its `faults` say what was lost: what, in which file, at which offset, how many bytes.

    Raises:
        LookupError: a pattern matches no run.
        ValueError: there is no event at all.
        FileNotFoundError: there is no such path, or no event file below it.
        FileExistsError: there is something at the output already.
        OSError: a file cannot be written; or one, or a directory, cannot be read, and there is no `on_error`.

    >>> import os, tempfile
    >>> from summaries import SummaryWriter, verify
    >>> place = tempfile.mkdtemp()
    >>> with SummaryWriter(os.path.join(place, "run")) as writer:
    ...     writer.add_scalar("loss", 0.5, 0)
    >>> with open(writer.path, "ab") as file:
    ...     _ = file.write(bytes(100))
    >>> mended = repair(os.path.join(place, "run"), os.path.join(place, "whole"))
    >>> mended.events, mended.lost_bytes
    (2, 100)
    >>> verify(os.path.join(place, "whole", os.path.basename(writer.path))).faults
    ()
    """
    return copied(path, output, lambda _files, _source: Edit(), **options)
