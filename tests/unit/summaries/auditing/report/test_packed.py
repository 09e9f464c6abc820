"""Blocks hold what was put into them, and their text ends no script element."""

import base64
import json
import zlib

import numpy as np
import pytest
from audits.reports import even, rising, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from javascript.packed_run import FIXTURE, packed

from summaries.auditing.report.packed import Arrays, as_text, body, plain, to_json


def block(header, arrays):
    return as_text(body(header, arrays))


examples = settings(max_examples=100, deadline=None)
int64 = st.integers(-(2**63), 2**63 - 1)


@examples
@given(st.lists(int64, max_size=50).map(sorted))
def test_steps(steps):
    collected = Arrays()
    header, read = unpacked(block(collected.add_rising(np.array(steps, np.int64)), collected))
    assert np.array_equal(rising(header, read), np.array(steps, np.float64))


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ([], "f8"),
        ([7], "u1"),
        ([0, 255, 510], "u1"),
        ([0, 256], "u2"),
        ([-5, 70_000], "u4"),
        ([0, 2**33], "f8"),
        ([2**60, 2**60 + 2**10], "f8"),
        ([5, 3, 9], "f8"),  # never asked for; no less true for that
    ],
)
def test_steps_take_few_bytes(steps, kind):
    collected = Arrays()
    header, read = unpacked(block(collected.add_rising(np.array(steps, np.int64)), collected))
    assert header[1] == kind
    assert rising(header, read).tolist() == steps


@examples
@given(arrays(np.float64, st.integers(0, 40), elements=st.floats()))
def test_times_lose_less_than_lies_between_them(values):
    collected = Arrays()
    with np.errstate(over="ignore", invalid="ignore"):
        header, read = unpacked(block(collected.add_even(values), collected))
        if header[1] is None:
            assert np.array_equal(even(header, read), values.astype(np.float32), equal_nan=True)
        else:
            assert np.abs(even(header, read) - values).max() <= 0.51 * header[1]
            assert header[1] <= np.median(np.abs(np.diff(values)))


@pytest.mark.parametrize(
    ("times", "kind"),
    [
        (np.arange(1000.0), "u2"),
        (1e9 + 0.25 * np.arange(1000), "u2"),
        (np.append(np.arange(1000.0), [3e4, 2e4]), "u2"),  # a clock that goes back
        (np.append(np.arange(1000.0), 1e9), "f4"),  # one that leaves the others no room
        (np.append(np.arange(1000.0), np.nan), "f4"),
        (np.array([0.0, 1e300, -1.7e308, 1.7e308]), "f4"),
        (np.zeros(9), "f4"),
        (np.zeros(0), "f4"),
    ],
)
def test_times_take_two_bytes(times, kind):
    assert Arrays().add_even(times)[2] == kind


@examples
@given(arrays(np.float64, st.integers(0, 40), elements=st.floats()))
def test_floats_lose_nothing(values):
    collected = Arrays()
    header, read = unpacked(block(collected.add_floats(values), collected))
    assert np.array_equal(read(*header), values, equal_nan=True)


def test_what_is_float32_stays_float32():
    assert Arrays().add_floats(np.array([0.1, np.nan, np.inf], np.float32).astype(np.float64))[0] == "f4"
    assert Arrays().add_floats(np.array([0.1]))[0] == "f8"
    assert Arrays().add_floats(np.array([1e300]))[0] == "f8"


def test_several_arrays():
    collected = Arrays()
    places = [collected.add(np.arange(n, dtype=kind)) for n, kind in [(3, "u1"), (5, ">f8"), (1, "u2"), (4, "f4")]]
    header, read = unpacked(block({"places": places, "name": "é\u2028"}, collected))
    assert header["name"] == "é\u2028"
    assert [read(*place).tolist() for place in header["places"]] == [[*range(3)], [*range(5)], [0], [*range(4)]]


def test_the_run_that_javascript_unpacks_is_packed_like_this():
    fixture, now = json.loads(FIXTURE.read_text(encoding="utf-8")), packed()
    was, is_now = (zlib.decompress(base64.b64decode(one.pop("text"))) for one in (fixture, now))
    assert was == is_now, "write it anew: PYTHONPATH=tests python -m javascript.packed_run"
    assert fixture == now


@examples
@given(st.text(st.characters(codec=None)))
def test_json_is_inert(text):
    said = to_json({text: [text]})
    assert said.isascii()
    assert not set("<>&") & set(said)
    assert json.loads(said) == {text: [text]}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1.5, 1.5),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (-np.inf, "-Infinity"),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        ("text", "text"),
        (None, None),
        (np.float64("nan"), "NaN"),
        ((1, 2), "(1, 2)"),
    ],
)
def test_numbers_that_json_lacks(value, said):
    assert plain(value) == said
    assert type(plain(value)) is type(said)
