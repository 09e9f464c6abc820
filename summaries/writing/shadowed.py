"""Names by which programs reach into torch's and tensorboardX's writers: attributes, which they may also replace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from summaries.writing.run_file import RunFile

__all__ = ["ShadowedNames", "computed"]

_Value = TypeVar("_Value")


class computed(Generic[_Value]):  # noqa: N801 - used as `property` is
    """Like `property`, but an assignment to the instance takes its place, and deleting that brings it back.

    Subclasses of a writer keep values of their own under names such as `log_dir`. So our own code must not read them.

    Args:
        getter: computes the value.

    >>> class Circle:
    ...     radius = 1
    ...     @computed
    ...     def diameter(self):
    ...         return 2 * self.radius
    >>> circle = Circle()
    >>> before, circle.diameter = circle.diameter, 5
    >>> before, circle.diameter
    (2, 5)
    """

    def __init__(self, getter: Callable[[Any], _Value]) -> None:
        self.__doc__ = getter.__doc__
        self._getter = getter

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...
    def __get__(self, instance: object | None, owner: type) -> Self | _Value:
        return self if instance is None else self._getter(instance)


class ShadowedNames:
    """The names of other writers' attributes, private ones included; subclasses and programs may replace each."""

    _given_logdir: str  # every writer has these three
    _run_file: RunFile
    reopen: Callable[[], None]

    @computed
    def log_dir(self) -> str:
        """The run's directory, under torch's name."""
        return self._given_logdir

    logdir = log_dir  # tensorboardX's name

    @computed
    def max_queue(self) -> int:
        """The number of scalars after which a call encodes them."""
        return self._run_file.max_queue

    @computed
    def flush_secs(self) -> float:
        """The longest that an event waits, in seconds."""
        return self._run_file.flusher.flush_secs

    @computed
    def filename_suffix(self) -> str:
        """The end of the file's name."""
        return self._run_file.destination.suffix

    @computed
    def file_writer(self) -> Self | None:
        """The writer of the run's own file, as in torch: this writer itself. None if it is closed."""
        return None if self._run_file.closed else self

    def _get_file_writer(self) -> Self:
        # Lightning, MONAI and others call this on torch's writer, to call add_summary on the result.
        self.reopen()
        return self

    @computed
    def event_writer(self) -> Self:
        """This writer itself: torch has an EventFileWriter here."""
        return self

    @property
    def _file_name(self) -> str:
        # Programs that upload or remove torch's event file find it as `writer.file_writer.event_writer._file_name`.
        return self._run_file.path

    _ev_writer = event_writer  # and tensorboardX's as `writer.file_writer.event_writer._ev_writer._file_name`
