"""Answers stay small, whatever the rows are; pages together are the whole."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.integrations.mcp.bounded import MOST, meant, page, shown

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text(max_size=9), inner, max_size=9),
    max_leaves=20,
)


@given(st.lists(VALUES, max_size=9))
def test_pages_together_are_all_rows_and_nothing_is_obeyed(rows):
    found, cursor = [], ""
    while True:
        text = page({"about": "rows"}, rows, cursor)
        assert all(character.isprintable() for character in text)
        told = json.loads(text)
        found += told["rows"]
        cursor = told.get("next", "")
        if not cursor:
            break
    assert [json.dumps(row) for row in found] == [json.dumps(json.loads(json.dumps(shown(row)))) for row in rows]


def test_times_are_told_apart():
    """Nine digits of seconds since the epoch are tens of seconds."""
    assert shown([1_700_000_001.0, 1_700_000_004.25, 16_777_217.0, 123_456_789.0]) == [
        1_700_000_001.0, 1_700_000_004.25, 16_777_217.0, 123_456_789.0,
    ]  # fmt: skip
    assert shown(np.float32(1.7e9)) == 1_700_000_000.0


def test_rows_of_any_size_fit():
    rows = [{"others": ["x" * 10_000] * 10_000, "claims": [{"tags": ["y" * 999] * 99}] * 99}] * 3
    for cursor in ("", "1", "2"):
        assert len(page({}, rows, cursor)) < 2 * MOST
    assert json.loads(page({}, rows, "1"))["rows"][0]["others"][-1] == "… 9995 more"


def test_names_that_are_shown_alike():
    assert meant(["a\x1b", "b"], "a\\x1b", "run") == "a\x1b"
    assert meant(["a\x1b", "a\\x1b"], "a\\x1b", "run") == "a\\x1b"
    with pytest.raises(ValueError, match="2 runs are shown as"):
        meant(
            ["x" * 999 + "a" * 150, "y".join(["x" * 150, "x" * 698, "a" * 150])][:1] * 2,
            shown("x" * 999 + "a" * 150),
            "run",
        )
    with pytest.raises(LookupError, match="there is no run 'c'"):
        meant(["a"], "c", "run")


@pytest.mark.parametrize("cursor", ["x", "-1", "3", "\u0663", "1.0"])
def test_a_cursor_of_somewhere_else(cursor):
    with pytest.raises(ValueError, match="cursor must be what an answer named as next"):
        page({}, [1, 2, 3], cursor)
