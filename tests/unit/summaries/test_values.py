"""What people log, as numbers: every type that is taken, and the words for what is not."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from summaries.values import as_float, as_step, check_tag

NUMBERS = [
    (1, 1.0),
    (-2.5, -2.5),
    (True, 1.0),
    (Decimal("0.5"), 0.5),
    (Fraction(1, 4), 0.25),
    (10**400, math.inf),
    (-(10**400), -math.inf),
    (np.array(3), 3.0),
    (np.array([2.5]), 2.5),
    (np.array([[[7]]]), 7.0),
    (np.array([True]), 1.0),
    (np.longdouble(0.5), 0.5),
    *((np.dtype(code).type(1), 1.0) for code in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"),
]


@pytest.mark.parametrize(("value", "expected"), NUMBERS, ids=lambda value: type(value).__name__)
def test_as_float(value, expected):
    number = as_float(value)
    assert (type(number), number) == (float, expected)


def test_as_float_of_nan():
    assert math.isnan(as_float(np.float16("nan")))


class Tensor:
    """What a tensor of another library has in common with all others."""

    shape = (1, 1)

    def item(self):
        return 2.5


def test_as_float_of_a_tensor():
    assert as_float(Tensor()) == 2.5


NO_NUMBERS = [
    (None, TypeError, "scalar_value must be a number, got NoneType: None"),
    ("1.5", TypeError, "scalar_value must be a number, got '1.5'"),
    (b"1.5", TypeError, "scalar_value must be a number, got b'1.5'"),
    ([1.5], TypeError, "scalar_value must be a number, got list: [1.5]"),
    (1j, TypeError, "scalar_value must be a number, got complex: 1j"),
    (np.array("1.5"), TypeError, "scalar_value must be a number, got ndarray: array('1.5', dtype='<U3')"),
    (np.array([1.5, 2.5]), ValueError, "scalar_value must be one number, got an array of shape (2,)"),
    (np.zeros((0, 1)), ValueError, "scalar_value must be one number, got an array of shape (0, 1)"),
]


@pytest.mark.parametrize(("value", "error", "text"), NO_NUMBERS)
def test_as_float_refuses(value, error, text):
    with pytest.raises(error) as raised:
        as_float(value)
    assert str(raised.value) == text


STEPS = [
    (None, 0),
    (0, 0),
    (-5, -5),
    (True, 1),
    (3.0, 3),
    (2**63 - 1, 2**63 - 1),
    (-(2**63), -(2**63)),
    (np.int16(7), 7),
    (np.uint64(2**63 - 1), 2**63 - 1),
    (np.float32(7), 7),
    (np.array(7), 7),
    (np.array([7]), 7),
    (np.array([2**53 + 1]), 2**53 + 1),
    (np.array([2**63 - 1]), 2**63 - 1),
]


@pytest.mark.parametrize(("step", "expected"), STEPS, ids=repr)
def test_as_step(step, expected):
    number = as_step(step)
    assert (type(number), number) == (int, expected)


NO_STEPS = [
    (2**63, ValueError, "global_step must fit in a signed 64-bit integer, got 9223372036854775808"),
    (-(2**63) - 1, ValueError, "global_step must fit in a signed 64-bit integer, got -9223372036854775809"),
    (1e300, ValueError, f"global_step must fit in a signed 64-bit integer, got {int(1e300)}"),
    (1.5, TypeError, "global_step must be an integer or None, got float: 1.5"),
    (math.nan, TypeError, "global_step must be an integer or None, got float: nan"),
    (math.inf, TypeError, "global_step must be an integer or None, got float: inf"),
    ("3", TypeError, "global_step must be an integer or None, got str: '3'"),
    (b"3", TypeError, "global_step must be an integer or None, got bytes: b'3'"),
    ([3], TypeError, "global_step must be an integer or None, got list: [3]"),
    (np.array([1, 2]), TypeError, "global_step must be an integer or None, got ndarray: array([1, 2])"),
]


@pytest.mark.parametrize(("step", "error", "text"), NO_STEPS)
def test_as_step_refuses(step, error, text):
    with pytest.raises(error) as raised:
        as_step(step)
    assert str(raised.value) == text


@pytest.mark.parametrize("tag", ["loss", "a/b", " ", "損失", "🙂", "t" * 100_000])
def test_check_tag(tag):
    check_tag(tag)


NO_TAGS = [
    ("", ValueError, "tag must not be empty, got ''"),
    ("\ud800", ValueError, r"tag must be Unicode text without lone surrogates, got '\ud800'"),
    (None, TypeError, "tag must be a string, got NoneType: None"),
    (b"loss", TypeError, "tag must be a string, got bytes: b'loss'"),
    (["loss"], TypeError, "tag must be a string, got list: ['loss']"),
]


@pytest.mark.parametrize(("tag", "error", "text"), NO_TAGS)
def test_check_tag_refuses(tag, error, text):
    with pytest.raises(error) as raised:
        check_tag(tag)
    assert str(raised.value) == text
