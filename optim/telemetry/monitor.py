"""GradientMonitor: logs the tags of `with_summaries` from a training loop with another library's optimizer."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from optim import checks
from optim.telemetry.arriving import Arriving, numbers_of
from optim.telemetry.endings import call_at_unusual_end, forget, words_of
from optim.telemetry.logger import Telemetry
from optim.telemetry.measuring import Measured, NothingToMeasureError, Observation, StepLeaves
from optim.telemetry.report import VariableReports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from numpy.typing import NDArray

    from optim.telemetry.recorder import FlightRecorder
    from optim.telemetry.report import StepReport
    from summaries import EventFileWriter

__all__ = ["GradientMonitor"]


class GradientMonitor:
    """Logs gradients, whichever library computes them and makes the update, on one device or on many ranks.

    Arrays are not modified. They are measured where they are, at steps that are due: in the host's memory each is read
    once, without a copy; on other devices by their library, with one transfer of the results.

    With torch.distributed, every rank calls `observe` at the same steps, and one has the writer:

    | gradients | norms |
    |---|---|
    | DDP | each rank's are whole |
    | DTensor: FSDP2, tensor parallel, expert parallel | of whole tensors: one reduction for all tensors of a mesh |
    | FSDP1 | of whole tensors; give the module itself, since only it knows the ranks |
    | accumulated over several backward passes | call `observe` once, when the optimizer is about to step |
    | scaled by GradScaler | call `unscale_` before, or give `scale=scaler.get_scale()` |
    | experts or parts that are plain tensors (Megatron, DeepSpeed) | not known here: an error asks for `global_norm` |
    | stages of a pipeline | each rank knows its stage only: give `global_norm` |

    Where a step may still be skipped, as by GradScaler, call `measure` before clipping, and `log` when it is made.

    Args:
        writer: where to log; histograms need a SummaryWriter. None on a rank that only takes part in measuring.
        every_n_steps: write at steps that this divides.
        histograms_every_n_steps: log histograms at steps that this divides; None for no histograms.
        variables: the names that get tags of their own; None for all.
        clock: returns seconds, from any start, for `train/global_step_per_sec`.
        layout: whether to log a layout of custom scalars; False if the run has its own, since TensorBoard shows one
            per run.
        rank_writer: where to log, with the same tags, the norms of the parts that this rank holds: a writer of its own
            on each rank, such as SummaryWriter("runs/x/rank=3").
        keep_last: a flight recorder: every step is measured, and so many are kept in memory. They are written, as a run
            `incident=<step>` below the writer's directory, with `keep_last // 4` steps that follow, when something
            happens: an element or a loss that is not finite; a spike, which is a loss 10 % and 8 standard deviations
            of the noise above the level of the last 256 steps, or a norm 10 times and as many deviations above it; an
            exception that ends the process; SIGTERM; or `dump()`. An incident ends after `3 * keep_last` steps, and
            after 20 only exceptions, SIGTERM and `dump()` are recorded. An exception that somebody catches,
            `sys.exit()`, and an exception of another thread are not; nor is SIGTERM if the program installs a handler
            of its own later, since that replaces this one.

    Raises:
        TypeError: a number of steps is not an integer; `variables` is not a list of names; histograms are requested,
            but the writer is not a SummaryWriter.
        ValueError: a number of steps is not positive.

    >>> import tempfile
    >>> from summaries import SummaryWriter, read_run
    >>> with SummaryWriter(tempfile.mkdtemp()) as writer:
    ...     monitor = GradientMonitor(writer)
    ...     report = monitor.observe(1, {"w": np.array([3.0, 4.0])}, {"w": np.array([0.0, 2.0])}, clip_norm=1.0)
    >>> report.global_norm, report.clipped
    (5.0, True)
    >>> read_run(writer.path).scalars["gradients/norm/w"].value
    array([5.])
    """

    def __init__(
        self,
        writer: EventFileWriter | None,
        every_n_steps: int = 1,
        histograms_every_n_steps: int | None = None,
        variables: Iterable[str] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        layout: bool = True,
        rank_writer: EventFileWriter | None = None,
        keep_last: int | None = None,
    ) -> None:
        chosen = list(variables) if isinstance(variables, Iterator) else variables  # it is needed more than once
        self._telemetry = Telemetry(
            writer, every_n_steps, histograms_every_n_steps, chosen, clock, layout=layout
        )  # fmt: skip
        self._of_rank = None
        if rank_writer is not None:
            self._of_rank = Telemetry(rank_writer, every_n_steps, None, chosen, clock, layout=layout)
        self._keeps = keep_last is not None and checks.positive_integer("keep_last", keep_last) > 0
        self._recorder: FlightRecorder | None = None
        if writer is not None and keep_last is not None:
            from optim.telemetry.recorder import FlightRecorder  # noqa: PLC0415 - with statistics of the audit

            self._recorder = FlightRecorder(writer, keep_last, chosen, clock)
            call_at_unusual_end(self._recorder.dump)
        self._updates: dict[tuple[str, ...], int] = {}  # the last one seen of these names, in VariableReports

    def observe(
        self,
        step: int,
        gradients: Any,
        weights: Any = None,
        clip_norm: float | None = None,
        learning_rate: float | None = None,
        loss: Any = None,
        *,
        updates: Any = None,
        slots: Mapping[str, Any] | None = None,
        global_norm: Any = None,
        scale: Any = 1.0,
        clipping: Mapping[str, float] | None = None,
    ) -> StepReport:
        """Record a step, and log it if it is due.

        Call it at every step, before the gradients are clipped. With `clip_norm` the norm is also measured at steps
        that are not due, since `gradients/clipped_fraction` counts all steps.

        Args:
            step: the step's number.
            gradients: name → array; nested mappings, lists, named tuples and JAX pytrees get names like "outer/inner".
                Or a torch module, or its `named_parameters()`: then the gradients are the parameters' `grad`, and the
                weights the parameters. Arrays may be NumPy's, torch's on any device and sharded as DTensors, JAX's, or
                any with `__array__` or `__dlpack__`. None is skipped. Or VariableReports that were measured elsewhere;
                if they are of an update that was observed before, this step is taken as skipped; weights and updates
                can be given beside them, slots cannot.
            weights: arrays with the same names; others are ignored.
            clip_norm: the bound on the global norm, if the loop clips by it.
            learning_rate: the current rate.
            loss: a number, or an array of one element.
            updates: the arrays that the step adds to the weights, with the same names, as optax returns them.
            slots: slot name → arrays with the same names, such as {"mu": state.mu, "nu": state.nu}.
            global_norm: the norm before clipping if it is known, for example from torch's clip_grad_norm_: from CUDA it
                is fetched without a wait, if nothing else of the step is needed. If None, it is measured. Parameters
                whose norms are not known on this rank are then left out.
            scale: what the gradients have been multiplied by: the scale of the loss, if they are not unscaled yet; or
                min(1, c / norm), if they have been clipped. Their norms are divided by it, `global_norm` is not.
            clipping: what a clipping that follows the norms saw, such as `ZClip.seen`: logged under `clipping/`.

        Returns:
            The step's report: the global norm if it was measured, and at a due step each variable.

        Raises:
            TypeError: a leaf is not an array of floating dtype; the gradients have no names.
            ValueError: there are no gradients; weights, updates or a slot lack the name of a gradient, or have another
                shape; `clip_norm` is not positive; `scale` is not positive and finite; a name is given twice; a
                parameter's norm is not known on this rank, and `global_norm` is not given.
            OSError: the file cannot be written.
        """
        measured = self.measure(
            step, gradients, weights, clip_norm, learning_rate,
            updates=updates, slots=slots, global_norm=global_norm, scale=scale,
        )  # fmt: skip
        return self.log(measured._replace(clipping=clipping or {}), loss)

    def measure(
        self,
        step: int,
        gradients: Any,
        weights: Any = None,
        clip_norm: float | None = None,
        learning_rate: float | None = None,
        *,
        updates: Any = None,
        slots: Mapping[str, Any] | None = None,
        global_norm: Any = None,
        scale: Any = 1.0,
    ) -> Observation:
        """Measure a step as `observe` does, but log nothing until `log`: the step may be skipped.

        The arguments are those of `observe`, but for the loss.

        Returns:
            What `log` takes. `kept()` makes it independent of the arrays, which may then be changed.

        Raises:
            TypeError, ValueError: as `observe` does.
        """
        step = checks.integer("step", step)
        bound, known = _bound(clip_norm), _arriving("global_norm", global_norm)
        if slots is not None and not isinstance(slots, Mapping):
            raise TypeError(f"slots must be a mapping from slot names to arrays, got {type(slots).__name__}")
        detailed = self._telemetry.is_due(step) or self._keeps
        rate = math.nan if learning_rate is None else _number("learning_rate", learning_rate)
        if isinstance(gradients, VariableReports) and self._has_seen(gradients):
            nothing = Measured(math.nan if gradients.rejected else None, gradients.rejected, None)
            return Observation(step, Arriving.of(nothing), None, bound, rate, detailed, (), skipped=True)
        found, own = known.then(_of_norm), None
        histograms: Iterable[tuple[str, str, NDArray[Any]]] = ()
        if self.needs_arrays(step) or self._norm_needs_arrays(bound, known):
            leaves = StepLeaves(gradients, weights, known.value(), _scale(scale))
            found = leaves.measured(updates, slots or {}, detailed=detailed)
            own = leaves.of_rank() if self._of_rank is not None else None
            if self._telemetry.histograms_are_due(step):
                histograms = leaves.whole(self._telemetry.shows)
        return Observation(step, found, own, bound, rate, detailed, histograms)

    def log(self, observation: Observation, loss: Any = None) -> StepReport:
        """Record what `measure` has measured, and write it if the step is due.

        Args:
            observation: of one step.
            loss: a number, or an array of one element.

        Returns:
            The step's report.

        Raises:
            TypeError: the loss is not a number.
            OSError: the file cannot be written.
        """
        fetched = None if loss is None or not observation.detailed else _number("loss", loss)  # fetching takes time
        report = observation.report(fetched)
        names = _names(observation.measured)
        self._telemetry.pass_over(observation.unseen)
        self._telemetry.observe(report, names)
        if observation.skipped:
            self._telemetry.add_loss(report)
        if self._recorder is not None and (report.nonfinite or not observation.skipped):
            self._recorder.record(report, names)
        own = observation.own
        if self._of_rank is not None and own is not None:
            self._of_rank.observe(observation._replace(found=Arriving.of(own), clip_norm=None).report(), _names(own))
        for kind, name, array in observation.histograms:
            self._telemetry.add_histograms(report.step, kind, {name: array})
        return report

    def log_loss_as(self, tag: str) -> None:
        """From now on, write the loss under another tag than `train/loss`.

        Args:
            tag: the tag, for a run to which something else logs a `train/loss`.
        """
        self._telemetry.loss_tag = tag

    def _has_seen(self, reports: VariableReports) -> bool:
        """Whether these are of an update that was observed before, or of none."""
        if reports.update is None:
            return False
        seen = self._updates.get(reports.names, 0) == reports.update
        self._updates[reports.names] = reports.update
        return seen

    def needs_arrays(self, step: int) -> bool:
        """Whether more is measured of this step than the norm of all gradients."""
        return self._telemetry.is_due(step) or self._keeps or self._telemetry.histograms_are_due(step)

    def _norm_needs_arrays(self, bound: float | None, known: Arriving[float | None]) -> bool:
        """Whether a step that is not due has to be looked at.

        `gradients/clipped_fraction` may need its norm; or a norm that is known at once says that there are elements to
        count that are not finite. One that is on its way counts as one such element then.
        """
        if not known.is_at_hand:
            return False
        norm = known.value()
        return bound is not None if norm is None else not math.isfinite(norm)

    def dump(self, reason: str = "dump() was called") -> str | None:
        """Write the steps that `keep_last` keeps, as an incident.

        Args:
            reason: is written with them, as a text.

        Returns:
            The directory of the incident; None if there is no step to write, or this rank has no writer.

        Raises:
            ValueError: there is no flight recorder.
        """
        if not self._keeps:
            raise ValueError("dump() needs a flight recorder: GradientMonitor(writer, keep_last=500)")
        return None if self._recorder is None else self._recorder.dump(reason)

    def close(self) -> None:
        """End the flight recorder; the writers are the caller's to close. Closing again does nothing."""
        if self._recorder is not None:
            forget(self._recorder.dump)
            self._recorder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            try:
                if error is not None and self._recorder is not None:
                    self._recorder.dump(words_of(error))
            finally:
                self.close()
        except OSError as failure:
            if error is None:
                raise
            warnings.warn(f"the last steps could not be written: {failure}", stacklevel=2)  # the error matters more


def _names(measured: Measured) -> tuple[str, ...]:
    return () if measured.variables is None else measured.variables.names


def _bound(clip_norm: Any) -> float | None:
    return None if clip_norm is None else checks.positive_or_infinite("clip_norm", _number("clip_norm", clip_norm))


def _scale(value: Any) -> float:
    scale = _number("scale", value)
    if not 0.0 < scale < math.inf:
        raise NothingToMeasureError(f"scale must be positive and finite, got {scale}")
    return scale


def _of_norm(norm: float | None) -> Measured:
    """What the global norm alone tells of a step."""
    return Measured(norm, None if norm is None else int(not math.isfinite(norm)), None)


def _arriving(name: str, value: Any) -> Arriving[float | None]:
    """A number, or None; nothing waits for one that a GPU has."""
    if getattr(value, "is_cuda", False) and value.numel() == 1 and not hasattr(value, "full_tensor"):
        return numbers_of([value.detach().reshape(())]).then(itemgetter(0))
    return Arriving.of(None if value is None else _number(name, value))


def _number(name: str, value: Any) -> float:
    """A number, or an array of one element on any device."""
    if hasattr(value, "full_tensor"):
        value = value.full_tensor()  # a partial DTensor's item() is this rank's part, without a word
    try:
        return float(value.item() if hasattr(value, "item") else value + 0)  # a string is not a number
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
