"""Saver: saves the state of a training run and restores it, so that a killed run resumes bit for bit."""

from __future__ import annotations

import operator
import os
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from optim.checkpoints.files import SUFFIX, Keeping, read_arrays, write_checkpoint
from optim.checkpoints.state import CheckpointArray
from optim.telemetry.logger import log_checkpoint
from optim.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from optim.checkpoints.state import Stateful
    from summaries import EventFileWriter

__all__ = ["Saver"]

_SECS_PER_HOUR = 3600.0

# The dtypes that safetensors can store, with its names for them. It has neither complex128 nor longer floats.
_DTYPES = {
    "bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16",
    "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
}  # fmt: skip
_DTYPE_NAMES = {code: name for name, code in _DTYPES.items()}


class Saver:
    """Saves and restores variables, and the state that optimizers and moving averages keep for them.

    That includes slots, the powers of Adam's betas and a clipping wrapper's counts: with the optimizer in the list, a
    restored run continues bit for bit. It may be restored before the optimizer has created any slot. What telemetry
    counts is no state: after a restart, `gradients/clipped_fraction` is about the steps since then.

    Args:
        var_list: the whole state of a run: Variables, optimizers, ExponentialMovingAverages, and any object with a
            `state` method (see `optim.checkpoints.state`). Or a mapping, name → Variable, which selects some of a
            checkpoint's arrays and may assign them to other variables: `Saver(ema.variables_to_restore([w, b]))` loads
            averages into the variables themselves.
        max_to_keep: the number of latest checkpoints to keep in their directory; None or 0 keeps all.
        keep_checkpoint_every_n_hours: of the older ones, one per this many hours is kept for good.

    Raises:
        TypeError: `var_list` holds anything else.
        ValueError: `var_list` is empty, two Variables have the same name, or a number is out of bounds.

    >>> import tempfile
    >>> from optim import MomentumOptimizer, latest_checkpoint
    >>> def begin():
    ...     w, step = Variable([1.0, 2.0], name="w"), Variable(0, trainable=False, name="global_step")
    ...     optimizer = MomentumOptimizer(0.1, 0.9)
    ...     return w, step, optimizer, Saver([w, step, optimizer])
    >>> directory = tempfile.mkdtemp()
    >>> w, step, optimizer, saver = begin()
    >>> report = optimizer.apply_gradients([(np.float32([1.0, 1.0]), w)], step)
    >>> path = saver.save(directory + "/model", step)
    >>> w, step, optimizer, saver = begin()  # as in another process
    >>> saver.restore(latest_checkpoint(directory))
    >>> int(step), w.value, optimizer.get_slot(w, "momentum").value
    (1, array([0.9, 1.9], dtype=float32), array([1., 1.], dtype=float32))
    """

    def __init__(
        self,
        var_list: Iterable[Variable | Stateful] | Mapping[str, Variable],
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10_000.0,
    ) -> None:
        if max_to_keep is not None and max_to_keep < 0:
            raise ValueError(f"max_to_keep must be at least 0, or None, got {max_to_keep}")
        if not keep_checkpoint_every_n_hours > 0:
            raise ValueError(f"keep_checkpoint_every_n_hours must be positive, got {keep_checkpoint_every_n_hours}")
        self._named, self._stateful = _sorted_out(var_list)
        self._picks = isinstance(var_list, Mapping)  # restores a part of a checkpoint
        self._keeping = max_to_keep or None, keep_checkpoint_every_n_hours * _SECS_PER_HOUR, time.time()
        self._last: list[str] = []

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of this model's checkpoints that the last save left in its directory, oldest first."""
        return list(self._last)

    def save(
        self,
        save_path: str | os.PathLike[str],
        global_step: int | Variable | None = None,
        *,
        writer: EventFileWriter | None = None,
    ) -> str:
        """Write a checkpoint, whole or not at all. The arrays are read as they are, so save between two steps.

        If the process is killed or the power is lost meanwhile, the checkpoint before is whole; when this returns, the
        new one is on the disk.

        Args:
            save_path: a directory, created if missing, and the model's name.
            global_step: a number, or a Variable, that is appended to the name.
            writer: it is flushed first, so that a run resumed from this checkpoint has all points up to here; then it
                logs the checkpoint.

        Returns:
            The file's path: `<save_path>-<global_step>.safetensors`.

        Raises:
            OSError: the checkpoint could not be written, and existing files are unchanged; or the writer could not
                write, and the checkpoint was written all the same.
            ValueError: `save_path` does not end in a name, or is remote; two entries have the same name; safetensors
                cannot store a dtype; an optimizer trains a Variable that is not in the list.
            TypeError: `global_step` is not an integer.
            ImportError: safetensors is not installed.
        """
        step = None if global_step is None else _as_step(global_step)
        path, stem = _path_and_stem(os.fsdecode(save_path), step)
        arrays = {name: _storable(name, entry.value) for name, entry in self._entries(None).items()}
        try:
            if writer is not None:
                writer.flush()
        finally:  # a run's state matters more than its summaries
            names = write_checkpoint(path, arrays, Keeping(stem, *self._keeping))
        self._last = [os.path.join(os.path.dirname(path), name) for name in names]
        if writer is not None:
            log_checkpoint(writer, path, step)
        return path

    def restore(self, save_path: str | os.PathLike[str]) -> None:
        """Restore the saved state of everything in `var_list`.

        Args:
            save_path: the path that save() or latest_checkpoint() returned.

        Raises:
            ValueError: the checkpoint does not fit: the message lists every name that is missing, unexpected, or of
                another shape or dtype; or the file is not a checkpoint, or is damaged. Nothing was changed.
            OSError: the file cannot be read.
            ImportError: safetensors is not installed.
        """
        if save_path is None:
            raise ValueError("save_path must be a checkpoint's path, got None: latest_checkpoint() found none")
        path = os.fsdecode(save_path)
        if not os.path.exists(path) and os.path.exists(path + SUFFIX):
            path += SUFFIX
        entries: dict[str, CheckpointArray] = {}

        def check(stored: Mapping[str, tuple[tuple[int, ...], str]]) -> None:
            entries.update(self._entries(stored))
            problems = _problems(entries, stored, picks=self._picks)
            if problems:
                raise ValueError("\n  ".join([f"{path!r} does not fit, and nothing was changed:", *problems]))

        arrays = read_arrays(path, check)
        for name, entry in entries.items():
            entry.assign(arrays[name])

    def _entries(self, stored: Collection[str] | None) -> dict[str, CheckpointArray]:
        """Name → entry of everything to save, or to restore from the names in `stored`."""
        entries = {name: CheckpointArray.of_variable(variable, name) for name, variable in self._named.items()}
        variables = list(self._named.values())
        for part in self._stateful:
            for entry in part.state(variables, stored):
                if entry.name in entries:
                    raise ValueError(f"two entries are named {entry.name!r}: give their owners different names")
                entries[entry.name] = entry
        return entries


def _sorted_out(
    var_list: Iterable[Variable | Stateful] | Mapping[str, Variable],
) -> tuple[dict[str, Variable], list[Stateful]]:
    """The Variables by name, and all other objects."""
    wanted = "var_list must hold Variables, optimizers and moving averages, or map names to Variables"
    if isinstance(var_list, Mapping):
        pairs, stateful = list(var_list.items()), []
        for name, variable in pairs:
            if not isinstance(name, str) or not isinstance(variable, Variable):
                raise TypeError(f"{wanted}, got {name!r}: {type(variable).__name__}")
    else:
        if isinstance(var_list, Variable) or not isinstance(var_list, Iterable):
            raise TypeError(f"{wanted}, got {type(var_list).__name__}")
        parts = list(var_list)
        pairs = [(part.name, part) for part in parts if isinstance(part, Variable)]
        stateful = [part for part in parts if not isinstance(part, Variable)]
        for part in stateful:
            if not callable(getattr(part, "state", None)):
                raise TypeError(f"{wanted}, got {type(part).__name__}: {part!r}")
    if not pairs and not stateful:
        raise ValueError("var_list must not be empty: there is nothing to save")
    named: dict[str, Variable] = {}
    for name, variable in pairs:
        _check_name(name)
        if name in named:
            raise ValueError(f"two Variables are named {name!r}: give them different names")
        named[name] = variable
    return named, stateful


def _check_name(name: str) -> None:
    if name == "__metadata__":
        raise ValueError("a Variable must not be named '__metadata__': the file format reserves that name")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"a Variable's name must be Unicode text without lone surrogates, got {name!r}") from None


def _as_step(global_step: Any) -> int:
    try:
        step = operator.index(global_step)
    except (TypeError, ValueError):
        raise TypeError(
            f"global_step must be an integer or an integer Variable, got {type(global_step).__name__}: {global_step!r}"
        ) from None
    if step < 0:
        raise ValueError(f"global_step must be at least 0, got {step}")
    return step


def _path_and_stem(save_path: str, step: int | None) -> tuple[str, str]:
    """The path of the file to write, and the model's name within it."""
    if "://" in save_path:
        raise ValueError(f"save_path must be local, since checkpoints are moved into place; got {save_path!r}")
    if os.path.isdir(save_path) or not os.path.basename(save_path):
        example = os.path.join(save_path, "model")
        raise ValueError(f"save_path must end in a name, such as {example!r}, got the directory {save_path!r}")
    prefix = save_path.removesuffix(SUFFIX)
    path = prefix + ("" if step is None else f"-{step}") + SUFFIX
    return path, os.path.basename(prefix)


def _storable(name: str, value: NDArray[Any]) -> NDArray[Any]:
    if value.dtype.name not in _DTYPES:
        raise ValueError(f"{name!r} is {value.dtype}, which safetensors cannot store; it stores {', '.join(_DTYPES)}")
    return np.asarray(value, value.dtype.newbyteorder("="), order="C")


def _problems(
    entries: Mapping[str, CheckpointArray], stored: Mapping[str, tuple[tuple[int, ...], str]], *, picks: bool
) -> list[str]:
    """The reasons why the checkpoint cannot be restored, one line each."""
    missing, surplus = sorted(set(entries).difference(stored)), sorted(set(stored).difference(entries))
    problems = [f"missing: {', '.join(map(repr, missing))}"] if missing else []
    if surplus and not picks:
        problems.append(
            f"unexpected: {', '.join(map(repr, surplus))}; a Saver of a mapping, name → Variable, restores a part"
        )
    for name in sorted(set(entries).intersection(stored)):
        entry, (shape, code) = entries[name], stored[name]
        value, dtype = entry.value, _DTYPE_NAMES.get(code, code)
        if shape != value.shape and not (entry.grows and len(shape) == value.ndim):
            problems.append(f"{name!r} has shape {shape}, expected {value.shape}")
        if dtype != value.dtype.name:
            problems.append(f"{name!r} is {dtype}, expected {value.dtype.name}")
        if not value.flags.writeable:
            problems.append(f"{name!r} belongs to a Variable whose array is read-only")
    return problems
