"""Handlers of exceptions and SIGTERM: what was there before still runs, and comes back."""

import signal
import sys
import threading

import pytest

from optim.telemetry import endings


@pytest.fixture
def _restored():
    before = sys.excepthook, signal.getsignal(signal.SIGTERM)
    yield
    assert (sys.excepthook, signal.getsignal(signal.SIGTERM)) == before


@pytest.mark.usefixtures("_restored")
def test_calls_and_their_end(monkeypatch):
    said = []

    def call(reason):
        said.append(reason)

    with monkeypatch.context() as patch:
        patch.setattr(sys, "excepthook", lambda *arguments: said.append(arguments[1]))
        endings.call_at_unusual_end(call)
        error = ValueError("no")
        sys.excepthook(ValueError, error, None)
        endings.forget(call)
        sys.excepthook(ValueError, error, None)
    assert said == ["ValueError: no", error, error]


@pytest.mark.usefixtures("_restored")
def test_a_call_that_fails_does_not_hide_the_end(capsys):
    said = []

    def failing(reason):
        raise OSError("no room")

    def call(reason):
        said.append(reason)

    previous = signal.signal(signal.SIGTERM, lambda *_: said.append("handler"))
    for each in (failing, call):
        endings.call_at_unusual_end(each)
    signal.raise_signal(signal.SIGTERM)
    for each in (failing, call):
        endings.forget(each)
    signal.signal(signal.SIGTERM, previous)
    assert said == ["SIGTERM", "handler"]
    assert capsys.readouterr().err == "gradledger: no room\n"


@pytest.mark.usefixtures("_restored")
def test_an_ignored_sigterm_stays_ignored():
    previous = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    endings.call_at_unusual_end(print)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    endings.forget(print)
    signal.signal(signal.SIGTERM, previous)


@pytest.mark.usefixtures("_restored")
def test_from_another_thread():
    thread = threading.Thread(target=endings.call_at_unusual_end, args=(print,))
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is not endings._at_sigterm
    endings.forget(print)
