"""GlobalSummaryWriter: one writer for every module and process, which counts the steps of each tag itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from summaries.writing.summary_writer import SummaryWriter

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from typing import Self

__all__ = ["GlobalSummaryWriter"]


class GlobalSummaryWriter:
    """tensorboardX's writer of the same name: a call has no step, since each tag's calls are counted.

    Processes that are forked share the counts. Each writes to a file of its own in the same directory.

    Args:
        args: as for `SummaryWriter`.
        coalesce_process: accepted for tensorboardX's sake; unused.
        kwargs: as for `SummaryWriter`.

    Attributes:
        smw: the SummaryWriter.

    >>> import tempfile
    >>> writer = GlobalSummaryWriter(tempfile.mkdtemp())
    >>> for loss in (0.5, 0.25):  # steps 0 and 1
    ...     writer.add_scalar("loss", loss)
    >>> writer.close()
    """

    _global: ClassVar[GlobalSummaryWriter | None] = None

    def __init__(self, *args: Any, coalesce_process: bool = True, **kwargs: Any) -> None:
        import multiprocessing  # noqa: PLC0415 - takes a while, and few programs need it

        self.smw = SummaryWriter(*args, **kwargs)
        self._lock = multiprocessing.Lock()
        # Manager starts a process that holds the counts for all others.
        self._manager = multiprocessing.Manager()
        self._counts: MutableMapping[tuple[str, str], int] = self._manager.dict()

    def add_scalar(self, tag: str, scalar_value: Any, walltime: float | None = None) -> None:
        """Log one number at the tag's next step: 0, 1, 2, ….

        Args:
            tag: the tag.
            scalar_value: a number, or an array or tensor of one element; stored as float32.
            walltime: seconds since the epoch; now if None.

        Raises:
            TypeError, ValueError, OSError: as `SummaryWriter.add_scalar` does.
        """
        self._count(self.smw.add_scalar, tag, scalar_value, walltime=walltime)

    def add_image(self, tag: str, img_tensor: Any, walltime: float | None = None, dataformats: str = "CHW") -> None:
        """Log a picture at the tag's next step, as a PNG. It needs Pillow.

        Args:
            tag: the tag.
            img_tensor: array [C, H, W]: 1 to 4 channels; integers from 0 to 255, or floating values from 0 to 1.
            walltime: seconds since the epoch; now if None.
            dataformats: the order of the axes: "CHW", "HWC" or "HW".

        Raises:
            TypeError, ValueError, ImportError: as `SummaryWriter.add_image` does.
        """
        self._count(self.smw.add_image, tag, img_tensor, walltime=walltime, dataformats=dataformats)

    def add_text(self, tag: str, text_string: str, walltime: float | None = None) -> None:
        """Log a text at the tag's next step.

        Args:
            tag: the tag, to which `/text_summary` is appended.
            text_string: Markdown.
            walltime: seconds since the epoch; now if None.

        Raises:
            TypeError, ValueError: as `SummaryWriter.add_text` does.
        """
        self._count(self.smw.add_text, tag, text_string, walltime=walltime)

    @staticmethod
    def getSummaryWriter() -> GlobalSummaryWriter:  # noqa: N802 - tensorboardX's name
        """The writer of this process, created on first use."""
        if GlobalSummaryWriter._global is None:
            GlobalSummaryWriter._global = GlobalSummaryWriter()
        return GlobalSummaryWriter._global

    @property
    def file_writer(self) -> SummaryWriter | None:
        """The writer of the run's own file: see `SummaryWriter.file_writer`."""
        return self.smw.file_writer

    def flush(self) -> None:
        """Return when the operating system has everything logged so far; raises as `SummaryWriter.flush` does."""
        self.smw.flush()

    def close(self) -> None:
        """Write everything; raises as `SummaryWriter.close` does."""
        self.smw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _count(self, add: Callable[..., None], tag: str, value: Any, **options: Any) -> None:
        """Log a value at the tag's next step. Each kind of summary has its own count, as in tensorboardX."""
        key = add.__name__, tag
        with self._lock:
            step = self._counts.get(key, 0)
            add(tag, value, global_step=step, **options)
            self._counts[key] = step + 1
