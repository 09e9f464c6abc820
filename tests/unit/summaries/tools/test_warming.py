"""Everything is compiled ahead of time, and what is there is not compiled again."""

import os

import pytest

from summaries import warm_up
from summaries.native import place
from summaries.tools import warming

pytest.importorskip("numba", reason="the extra `fast`")


def test_a_second_time_all_is_there():
    warm_up()
    found = warm_up()
    assert [warmed.title for warmed in found] == [
        "the scanner of event files", "the indexer of event files", "the counter of histograms"
    ]  # fmt: skip
    assert [warmed.seconds for warmed in found] == [0.0] * 3
    assert all(os.path.getsize(warmed.path) == warmed.size for warmed in found)
    assert {os.path.dirname(warmed.path) for warmed in found} == {place.code_directory()}


def test_without_numba(monkeypatch):
    monkeypatch.setattr(warming, "has_compiler", lambda: False)
    with pytest.raises(ImportError, match=r"^compiling needs numba: pip install 'gradledger\[fast\]'$"):
        warm_up()
