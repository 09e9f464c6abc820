"""A signal's handler between any two instructions of a call: nothing hangs, and what was accepted is there once.

A trace function calls the handler before the n-th instruction of a call, in every frame below it, for every n. That is
more than a process does to itself: CPython looks for signals only at some instructions. A handler that raises comes at
those alone, since no code of Python could guard a lock against more.
"""

import contextlib
import dis
import itertools
import math
import os
import signal
import sys
import threading
from collections import Counter

import pytest
from helpers import scalars

import summaries
from summaries import EventFileWriter, Summary
from summaries.writing.flusher import Flusher

LOOKS_FOR_SIGNALS = ("CALL", "RESUME", "JUMP_BACKWARD", "SEND")  # beginnings of names of instructions
OURS = (os.path.dirname(summaries.__file__), contextlib.__file__)
_looks = {}


class InterruptError(Exception):
    """What a handler raises."""


class Interrupter:
    """Calls a handler before one of the instructions that are executed below a call.

    Args:
        at: the number of the instruction; None for none, to count them.
        handler: the handler.
        only_where_signals_come: whether to count only the instructions before which a signal's handler may be called.
    """

    def __init__(self, at, handler, *, only_where_signals_come):
        self.at, self.handler, self.only = at, handler, only_where_signals_come
        self.count = 0
        self._last = {}

    def run(self, call):
        sys.settrace(self._frame)
        try:
            call()
        finally:
            sys.settrace(None)

    def _frame(self, frame, event, _arg):
        if event == "call" and frame.f_code.co_filename.startswith(OURS):
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
            return self._instruction
        return None

    def _instruction(self, frame, event, _arg):
        if event == "opcode":
            if self.only:
                last = self._last.get(id(frame))
                self._last[id(frame)] = frame.f_lasti
                if last is None or not looks(frame.f_code)[last]:
                    return self._instruction
            self.count += 1
            if self.count - 1 == self.at:
                sys.settrace(None)  # the rest need not be counted again
                self.handler()
        elif event == "return":
            self._last.pop(id(frame), None)
        return self._instruction


def looks(code):
    """offset → whether CPython looks for signals after the instruction there."""
    if code not in _looks:
        _looks[code] = {i.offset: i.opname.startswith(LOOKS_FOR_SIGNALS) for i in dis.get_instructions(code)}
    return _looks[code]


class Trial:
    """A writer, and what it accepted.

    Args:
        logdir: where it writes.
        options: the writer's.
    """

    flusher = Flusher(math.inf)
    numbers = itertools.count()

    def __init__(self, logdir, **options):
        self.writer = EventFileWriter(logdir / str(next(self.numbers)), flusher=self.flusher, **options)
        self.tried, self.accepted = [], []
        self.others = []  # threads
        self.children = []  # how forked processes ended
        self._steps = itertools.count()

    def add(self, tag="loss"):
        self._log(lambda step: self.writer.add_scalar(tag, step, step, 1.0))

    def add_to_new_tag(self):
        self.add(f"new{next(self._steps)}")

    def add_summary(self):
        data = Summary(value=[Summary.Value(tag="summary", simple_value=1)]).SerializeToString()
        self._log(lambda step: self.writer.add_summary(data, step, 1.0))

    def _log(self, log):
        step = next(self._steps)
        self.tried.append(step)
        try:
            log(step)
        except RuntimeError as error:
            assert str(error).endswith("log it again")  # noqa: PT017
        else:
            self.accepted.append(step)

    def flush(self):
        self.writer.flush()

    def close(self):
        self.writer.close()

    def reopen(self):
        try:
            self.writer.reopen()
        except RuntimeError as error:
            assert str(error).endswith("call it afterwards")  # noqa: PT017

    def interrupt(self):
        raise InterruptError

    def closed_and_add(self):
        self.add()

    def check(self):
        for thread in self.others:
            thread.join(60)
            assert not thread.is_alive(), "two threads wait for each other"
        self.writer.close()
        found = Counter(step for path in self.writer.paths for step, _, _ in scalars(path))
        assert set(found.values()) <= {1}, "an event is there twice"
        assert set(self.accepted) <= set(found), "an event that was accepted is lost"
        assert set(found) <= set(self.tried)
        assert not self.writer._run_file._disk_lock._is_owned()
        assert not self.writer._run_file._open_lock._is_owned()
        assert not self.writer._run_file._now_lock._is_owned()
        assert not self.writer._run_file.queue.encoding_here()


CALLS = ["add", "add_to_new_tag", "add_summary", "flush", "close", "reopen", "closed_and_add"]
OPTIONS = [{}, {"max_queue": 0}, {"fsync": True}]
HANDLERS = ["add", "add_to_new_tag", "flush", "close", "reopen", "interrupt"]


def begin(logdir, call, **options):
    trial = Trial(logdir, **options)
    for _ in range(3):
        trial.add()
        trial.add_summary()
    if call in ("closed_and_add", "reopen"):
        trial.writer.close()
    return trial


@pytest.fixture(scope="module", autouse=True)
def settled(tmp_path_factory):
    """CPython 3.11 goes wrong if a function that it traces is specialized meanwhile: let that be done before."""
    for options in OPTIONS:
        for call in CALLS * 8:
            trial = begin(tmp_path_factory.getbasetemp(), call, **options)
            getattr(trial, call)()
            trial.check()


def tried_at_each(tmp_path, call, act, options, *, only):
    """Try a call again and again, and do something before each of its instructions; `act` gets the trial."""
    begun = begin(tmp_path, call, **options)
    counting = Interrupter(None, None, only_where_signals_come=only)
    counting.run(getattr(begun, call))
    begun.check()
    assert counting.count > 5
    for at in range(counting.count):
        trial = begin(tmp_path, call, **options)
        interrupter = Interrupter(at, lambda trial=trial: act(trial), only_where_signals_come=only)
        try:
            interrupter.run(getattr(trial, call))
        except InterruptError:
            assert only
        try:
            trial.check()
        except AssertionError as error:
            raise AssertionError(f"before instruction {at} of {call}: {error}") from error


@pytest.mark.filterwarnings("ignore:a flush of")  # a flush inside of a flush says that it cannot
@pytest.mark.parametrize(
    ("call", "handler", "options"),
    [
        *((call, handler, {}) for call in CALLS for handler in HANDLERS),
        *(
            (call, handler, options)
            for call in ("add", "flush", "close")
            for handler in ("add", "close", "interrupt")
            for options in OPTIONS[1:]
        ),
    ],
)
def test_a_handler_between_any_two_instructions(tmp_path, monkeypatch, call, handler, options):
    monkeypatch.setattr("os.fsync", lambda _fd: None)
    only = handler == "interrupt"
    tried_at_each(tmp_path, call, lambda trial: getattr(trial, handler)(), options, only=only)


@pytest.mark.filterwarnings("ignore:a flush of")
@pytest.mark.parametrize("other", ["add", "flush", "close"])
@pytest.mark.parametrize("call", ["add_to_new_tag", "flush", "close", "closed_and_add"])
def test_another_thread_between_any_two_instructions(tmp_path, call, other):
    """It does what it can while this one stands still, and the rest when this one goes on."""
    threads = []

    def act(trial):
        thread = threading.Thread(target=getattr(trial, other))
        thread.start()
        thread.join(0.002)  # it may wait for a lock that this one holds
        threads.append(thread)
        trial.others.append(thread)

    tried_at_each(tmp_path, call, act, {}, only=False)
    assert threads


def child_that_logs(trial):
    """Fork; in the child, log and close, and have only that in a file of its own."""
    process = os.fork()
    if process:
        _, status = os.waitpid(process, 0)
        trial.children.append(os.waitstatus_to_exitcode(status))
        return
    sys.settrace(None)
    signal.alarm(60)  # it ends what waits for itself
    status = 1
    try:
        before = len(trial.writer.paths)
        trial.writer.add_scalar("child", 7, 7, 1.0)
        trial.writer.close()
        (own,) = trial.writer.paths[before:]
        status = 0 if [step for step, _, _ in scalars(own)] == [7] else 2
    finally:
        os._exit(status)


def in_another_thread(trial):
    thread = threading.Thread(target=child_that_logs, args=(trial,))
    thread.start()
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:a flush of", "ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("fork", [child_that_logs, in_another_thread])
@pytest.mark.parametrize("call", ["add", "add_to_new_tag", "flush", "close", "closed_and_add"])
def test_a_fork_between_any_two_instructions(tmp_path, call, fork):
    """The child finds every lock free, whoever held it, and what waits is the parent's.

    Only where CPython looks for signals, which is also where it changes to another thread: a fork takes long.
    """
    children = []

    def act(trial):
        fork(trial)
        children.extend(trial.children)

    tried_at_each(tmp_path, call, act, {}, only=True)
    assert children
    assert set(children) == {0}
