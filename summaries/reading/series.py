"""Series: the points of one tag, and which of them are still valid after restarts."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from google.protobuf.message import DecodeError

from summaries.errors import Fault, FaultKind, UndecodableError
from summaries.reading.by_name import ByName
from summaries.reading.presented import presented
from summaries.reading.restarts import Standing, standing
from summaries.wire.events import decode_value
from summaries.words import counted, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from summaries.storage.protocols import StoredFile
    from summaries.wire.pb import Summary

__all__ = ["Items", "Scalars", "Series"]


class _Points:
    """The points of one tag, in the order they were written, and which of them stand after restarts."""

    tag: str
    step: NDArray[np.int64]
    restarts: Sequence[tuple[int, int]]

    def __len__(self) -> int:
        return len(self.step)

    @cached_property
    def standing(self) -> NDArray[np.uint8]:
        """uint8[n]: a `Standing` code for each point."""
        return standing(self.step, self.restarts)

    def _last_at(self, step: int) -> int:
        """The index of the last point with this step."""
        wanted, steps = np.asarray(step), self.step
        if wanted.ndim or wanted.dtype.kind not in "biuf":
            raise TypeError(f"a step is one integer, got {step!r}")
        at = np.flatnonzero(steps == step)
        if len(at):
            return int(at[-1])
        below, above = steps[steps < step], steps[steps > step]
        near = [*([below.max()] if len(below) else []), *([above.min()] if len(above) else [])]
        hint = f"the nearest {'step is' if len(near) == 1 else 'steps are'} {' and '.join(map(str, near))}"
        raise LookupError(f"{quoted(self.tag)} has nothing at step {step}; {hint if near else 'it has no steps'}")


@dataclass(frozen=True, eq=False)
class Series(_Points):
    """The scalars of one tag: all points, in the order they were written.

    Attributes:
        tag: the tag.
        step: int64[n].
        wall_time: float64[n], seconds since the epoch.
        value: float64[n].

    >>> series = Series("loss", np.array([1, 2, 3, 2]), np.arange(4.0), np.array([9.0, 8.0, 7.0, 6.0]))
    >>> series.latest().value
    array([9., 6.])
    >>> [Standing(code).name for code in series.standing]
    ['STANDS', 'WRITTEN_AGAIN', 'WRITTEN_AGAIN', 'STANDS']
    """

    tag: str
    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]
    restarts: Sequence[tuple[int, int]] = field(default=(), repr=False)
    """(number of points before it, the step that the run returned to) of each session start after the first point.

    Several starts between the same two points are reduced to the lowest step of these and later ones, and the last.
    """

    def __repr__(self) -> str:
        return f"Series({quoted(self.tag)}, {presented('display.series_text', self)})"

    def _repr_html_(self) -> str:
        return str(presented("display.series_html", self))

    def at(self, step: int) -> float:
        """The value at a step; of several, the one that was written last.

        Args:
            step: the step, an integer.

        Raises:
            LookupError: there is none; the message names the nearest steps.
            TypeError: the step is no number.

        >>> Series("loss", np.array([10, 20]), np.zeros(2), np.array([0.5, 0.25])).at(20)
        0.25
        """
        return float(self.value[self._last_at(step)])

    def plot(
        self, ax: Axes | None = None, *, x: str = "step", smoothing: float = 0.0, logy: bool = False, **style: Any
    ) -> Axes:
        """Plot the points that stand; fainter, those that a restart superseded. A dotted line marks each restart.

        Args:
            ax: the axes to draw in; None takes pyplot's current ones, as pandas does.
            x: "step"; "relative", hours since the first point; or "wall", the time in UTC.
            smoothing: TensorBoard's, from 0 up to but not including 1; the values themselves stay, fainter.
            logy: whether the values have a logarithmic axis.
            style: how matplotlib draws the line, such as `color` and `label`.

        Raises:
            ValueError: `x` or `smoothing` has another value.
            ImportError: matplotlib is missing; the message says how to install it.
        """
        axes: Axes = presented("plots.plot_series", self, ax, x=x, smoothing=smoothing, logy=logy, **style)
        return axes

    def latest(self) -> Series:
        """The valid points: no later session start or point of this tag has their step or a lower one."""
        stands = self.standing == Standing.STANDS
        return Series(self.tag, self.step[stands], self.wall_time[stands], self.value[stands])


class Scalars(ByName[Series]):
    """The scalars of a run: tag → Series."""

    __slots__ = ()

    def __init__(self, series: Mapping[str, Series]) -> None:
        super().__init__(series, "no scalars are tagged")

    def _repr_html_(self) -> str:
        return str(presented("display.scalars_html", self))


@dataclass(frozen=True, eq=False)
class Items(_Points):
    """The values of one tag that are not scalars, in the order they were written.

    A value is read from its file and decoded on access: `items[i]`, or in a loop over `items`. The properties of `Run`
    say what each kind is decoded to.

    Attributes:
        tag: the tag.
        step: int64[n].
        wall_time: float64[n], seconds since the epoch.

    >>> import tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     writer.add_histogram("weights", np.arange(100.0), 7, bins=4)
    >>> items = read_run(writer.path).histograms["weights"]
    >>> items.step, items[0].shape
    (array([7]), (4, 3))
    """

    tag: str
    step: NDArray[np.int64]
    wall_time: NDArray[np.float64]
    _locations: NDArray[np.void] = field(repr=False)
    _files: Sequence[StoredFile] = field(repr=False)
    _decode: Callable[[Summary.Value], Any] = field(repr=False)
    restarts: Sequence[tuple[int, int]] = field(default=(), repr=False)

    def __repr__(self) -> str:
        steps = f", steps {self.step.min()} to {self.step.max()}" if len(self) else ""
        return f"Items({quoted(self.tag)}, {counted(len(self), 'value')}{steps})"

    def at(self, step: int) -> Any:
        """The value at a step; of several, the one that was written last.

        Args:
            step: the step, an integer.

        Raises:
            LookupError: there is none; the message names the nearest steps.
            TypeError: the step is no number.
            OSError, UndecodableError: as for `items[index]`.
        """
        return self[self._last_at(step)]

    def __getitem__(self, index: int | slice) -> Any:
        """Return the value at an index; of a slice, a list of values.

        Raises:
            TypeError: the index is no integer.
            IndexError: the index is out of range.
            OSError: the file can no longer be read.
            UndecodableError: the bytes are not a value of this kind; `fault` has the file and the offset.
        """
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        location = self._locations[operator.index(index)]
        stored = self._files[location["file"]]
        offset, length = int(location["offset"]), int(location["length"])
        with stored.open() as file:
            data = file.read_range(offset, length)
        try:
            value = decode_value(data)
            if value.tag == self.tag:
                return self._decode(value)
            error: Exception = ValueError(f"the file has changed: the tag here is {value.tag!r} now")
        except (DecodeError, ValueError) as caught:
            error = caught
        reason, want = "value is not what its tag says", f"a value of {self.tag!r}"
        raise UndecodableError(Fault(FaultKind.UNDECODABLE, reason, offset, length, str(error), want, path=stored.path))

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    @property
    def value(self) -> list[Any]:
        """All values, decoded at each access."""
        return list(self)

    def latest(self) -> Items:
        """The valid values: no later session start or value of this tag has their step or a lower one."""
        stands = self.standing == Standing.STANDS
        locations = self._locations[stands]
        return Items(self.tag, self.step[stands], self.wall_time[stands], locations, self._files, self._decode)
