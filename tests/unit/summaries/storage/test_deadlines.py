"""Deadlines of what a store does."""

import threading

import pytest

from summaries.storage import deadlines
from summaries.storage.deadlines import end_soon, secs_for, within


@pytest.fixture
def never():
    """A call that does not end before the test does."""
    event = threading.Event()
    yield event.wait
    event.set()


def refuse():
    raise PermissionError("no")


def test_a_call_ends_or_does_not(never):
    assert within(60, lambda: 5) == 5
    with pytest.raises(PermissionError, match="no"):
        within(60, refuse)
    with pytest.raises(TimeoutError, match=r"the store did not answer within 0 s") as raised:
        within(0.01, never)
    assert isinstance(raised.value, OSError)
    with pytest.raises(TimeoutError):
        within(0, lambda: 5)  # not even begun


@pytest.mark.parametrize(
    ("given", "want"),
    [("", 60), ("5", 5), ("0.5", 0.5), ("-1", 60), ("0", 60), ("nan", 60), ("x", 60), ("inf", float("inf"))],
)
def test_how_long_is_settable(monkeypatch, given, want):
    monkeypatch.setattr(deadlines, "_until", [])
    monkeypatch.setenv("GRADLEDGER_STORE_SECS", given)
    assert secs_for() == want
    assert secs_for(1_000_000) == want + 10


def test_at_the_end_of_the_process_all_requests_share_the_time(monkeypatch):
    monkeypatch.setattr(deadlines, "_until", [])
    monkeypatch.setenv("GRADLEDGER_EXIT_SECS", "5")
    end_soon()
    assert 0 < secs_for(10**9) <= 5
    deadlines._until[0] -= 10
    assert secs_for() == 0
