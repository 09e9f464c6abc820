"""Contenders, each library in a process of its own, which take turns so that a busy moment affects all of them.

A process that runs two libraries measures what they do to one another: their threads spin, their allocators share a
heap. So each library has a process, in which its contenders are prepared and repeated for as long as they are asked to.
"""

from __future__ import annotations

import atexit
import gc
import itertools
import multiprocessing
import os
import sys
import time
import traceback
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.figures import OURS, Figure
from benchmarks.scale import sized, timed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from multiprocessing.connection import Connection

TURNS = sized(4, 2)
UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}
_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "WANDB_SILENT": "true", "PYTHONWARNINGS": "ignore"}


class Measured(float):
    """What a round measured by a clock, or a scale, of its own: its process measures all other rounds' seconds."""


class Contender(NamedTuple):
    """What is repeated.

    Attributes:
        prepare: called once, in the library's process, with `args`; returns what one round does. A function at the top
            of its module, as are all in `args`, because they are sent to that process.
        library: the module that must be installed for it; each has a process.
    """

    prepare: Callable[..., Callable[[], object]]
    args: tuple[Any, ...] = ()
    library: str = OURS


class Outcome(NamedTuple):
    """What each contender's rounds took, by name, in seconds or what they measured; and who was left out, and why."""

    rounds: dict[str, list[float]]
    left_out: dict[str, str]

    def least(self) -> dict[str, float]:
        """The least of each."""
        return {name: min(taken) for name, taken in self.rounds.items()}

    def typical(self) -> dict[str, float]:
        """The median of each, without the first round, which warms up."""
        return {name: median(taken[1:] or taken) for name, taken in self.rounds.items()}


class PeerError(RuntimeError):
    """A contender failed in its process; the text is its traceback."""


class NotInstalledError(RuntimeError):
    """Ours cannot run without a library that is not installed."""


def take_turns(contenders: Mapping[str, Contender], seconds: float = 4.0, pause: float = 0.0) -> Outcome:
    """Repeat all of them in turns.

    Args:
        contenders: what to repeat, by name.
        seconds: how long each is repeated for, at least twice, since the first round may be what compiles or imports;
            quick runs take a sixteenth. 0 is for what is measured once.
        pause: seconds to wait before each turn; the threads of some libraries keep spinning for a while.

    Raises:
        PeerError: one of ours failed. A peer that fails is left out.
        NotInstalledError: ours needs a library that is not installed. A peer that is not installed is left out.
    """
    seconds = timed(seconds)
    outcome = Outcome({}, {})
    for name, contender in contenders.items():
        if contender.library != OURS and find_spec(contender.library) is None:
            if name == OURS:
                raise NotInstalledError(f"{contender.library} is not installed")
            outcome.left_out[name] = f"{contender.library} is not installed"
        else:
            _attempt(outcome, name, contender, ("prepare", name, contender.prepare, contender.args))
    spent = dict.fromkeys(contenders, 0.0)
    for turn, name in itertools.product(range(TURNS if seconds else 1), contenders):
        if name not in outcome.left_out and (turn <= 1 or spent[name] < seconds):
            time.sleep(pause)
            began = time.perf_counter()
            _attempt(outcome, name, contenders[name], ("turn", name, seconds / TURNS))
            spent[name] += time.perf_counter() - began
    for library in {contender.library for contender in contenders.values()} & set(_processes):
        _processes[library].ask("drop")
    return outcome


def compare(
    what: str,
    unit: str,
    contenders: Mapping[str, Contender],
    *,
    per: float = 1.0,
    seconds: float = 4.0,
    pause: float = 0.0,
    **others: Any,
) -> Figure:
    """A figure of the least that each took.

    Args:
        unit: a unit of time, which one of `per` such took; "MB/s" and the like, of which a round has `per`; or any
            other unit, in which the rounds measure themselves.
        contenders: ours is called "gradledger".
        others: what else the figure is to say; see `Figure`.
    """
    outcome = take_turns(contenders, seconds, pause)
    least = {name: _in_unit(value, unit, per) for name, value in outcome.least().items()}
    return Figure(what, unit, least.pop(OURS), least, left_out=outcome.left_out, **others)


def stop() -> None:
    """End every library's process; the next contender starts a fresh one."""
    for process in _processes.values():
        process.stop()
    _processes.clear()


def _in_unit(value: float, unit: str, per: float) -> float:
    if unit.endswith("/s"):
        return per / value
    return value * UNITS.get(unit, 1.0) / per


def _attempt(outcome: Outcome, name: str, contender: Contender, request: tuple[Any, ...]) -> None:
    """Ask the library's process; keep what it measured, or leave the contender out if it fails."""
    if contender.library not in _processes:
        _processes[contender.library] = _Process(contender.library)
    try:
        outcome.rounds.setdefault(name, []).extend(_processes[contender.library].ask(*request))
    except PeerError as error:
        if OURS in {name, contender.library}:
            raise
        outcome.rounds.pop(name, None)
        outcome.left_out[name] = str(error).strip().splitlines()[-1]


class _Process:
    """The process of one library."""

    def __init__(self, library: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._library = library
        self._process = context.Process(
            target=_serve, args=(theirs, library), name=library
        )  # may have children: no daemon
        self._process.start()
        atexit.register(stop)  # now, to come before what multiprocessing does at exit, which is to wait for it
        theirs.close()

    def ask(self, *request: object) -> list[float]:
        """Send a request, and wait for its answer."""
        try:
            self._connection.send(request)
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            del _processes[self._library]
            raise PeerError(f"the process of {self._library} ended") from error
        if isinstance(answer, str):
            raise PeerError(answer)
        return answer  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End it."""
        self._connection.close()
        self._process.join(10)
        self._process.kill()


_processes: dict[str, _Process] = {}


def _serve(connection: Connection, library: str) -> None:
    """A library's process: answer until nobody asks. What the library prints is nobody's business."""
    os.environ.update(_QUIET)
    if library != "tensorflow":  # where it is installed, tensorboard and all that stands on it use it
        sys.modules["tensorflow"] = None  # type: ignore[assignment]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    prepared: dict[str, Callable[[], object]] = {}
    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            connection.send(_answer(prepared, *request))
        except BaseException:  # noqa: BLE001 - whatever it raises is told to the one who asked
            connection.send(traceback.format_exc())


def _answer(prepared: dict[str, Callable[[], object]], request: str, name: str = "", *more: Any) -> list[float]:
    if request == "prepare":
        prepare, args = more
        prepared[name] = prepare(*args)
    elif request == "drop":
        prepared.clear()
    else:
        return _turn(prepared[name], *more)
    gc.collect()
    return []


def _turn(run: Callable[[], object], seconds: float) -> list[float]:
    """What each round took, until the seconds are over; one at least."""
    taken: list[float] = []
    end = time.perf_counter() + seconds
    while not taken or time.perf_counter() < end:
        began = time.perf_counter()
        result = run()
        took = time.perf_counter() - began
        taken.append(float(result) if isinstance(result, Measured) else took)
        del result
    return taken
