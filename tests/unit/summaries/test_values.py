"""What people log, as numbers: every type that is taken, and the words for what is not."""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from summaries.values import as_float, as_step, as_tag, check_tag

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
    ("1.5 m", TypeError, "scalar_value must be a number, got '1.5 m'"),
    (b"", TypeError, "scalar_value must be a number, got b''"),
    ([1.5, 2.5], TypeError, "scalar_value must be a number, got list: [1.5, 2.5]"),
    ([], TypeError, "scalar_value must be a number, got list: []"),
    (["a"], TypeError, "scalar_value must be a number, got list: ['a']"),
    (1j, TypeError, "scalar_value must be a number, got complex: 1j"),
    (np.array("a"), TypeError, "scalar_value must be a number, got ndarray: array('a', dtype='<U1')"),
    (np.array([1.5, 2.5]), ValueError, "scalar_value must be one number, got an array of shape (2,)"),
    (np.zeros((0, 1)), ValueError, "scalar_value must be one number, got an array of shape (0, 1)"),
]


@pytest.mark.parametrize(("value", "error", "text"), NO_NUMBERS)
def test_as_float_refuses(value, error, text):
    with pytest.raises(error) as raised:
        as_float(value)
    assert str(raised.value) == text


ODD_NUMBERS = [
    ("1.5", 1.5, "str"),
    (" 3\n", 3.0, "str"),
    ("1e400", math.inf, "str"),
    (b"1.5", 1.5, "bytes"),
    (np.array("1.5"), 1.5, "ndarray"),
    ([1.5], 1.5, "list"),
    ((np.float32(1.5),), 1.5, "tuple"),
]


@pytest.mark.parametrize(("value", "expected", "kind"), ODD_NUMBERS, ids=repr)
def test_as_float_of_what_python_converts(value, expected, kind):
    """As torch does, or tensorboardX."""
    text = f"^scalar_value should be a number, got {kind}: it is converted with float\\(\\)$"
    with pytest.warns(UserWarning, match=text) as caught:
        assert as_float(value) == expected
    assert [warning.filename for warning in caught] == [__file__]


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
    (math.nan, TypeError, "global_step must be an integer or None, got float: nan"),
    (math.inf, TypeError, "global_step must be an integer or None, got float: inf"),
    ("3.5", TypeError, "global_step must be an integer or None, got str: '3.5'"),
    (b"x", TypeError, "global_step must be an integer or None, got bytes: b'x'"),
    (3j, TypeError, "global_step must be an integer or None, got complex: 3j"),
    ([3], TypeError, "global_step must be an integer or None, got list: [3]"),
    (np.array([1, 2]), TypeError, "global_step must be an integer or None, got ndarray: array([1, 2])"),
]


@pytest.mark.parametrize(("step", "error", "text"), NO_STEPS)
def test_as_step_refuses(step, error, text):
    with pytest.raises(error) as raised:
        as_step(step)
    assert str(raised.value) == text


ODD_STEPS = [
    (2.7, 2, "float"),
    (-2.7, -2, "float"),
    (np.float32(2.5), 2, "float32"),
    ("3", 3, "str"),
    (b"3", 3, "bytes"),
    (Decimal("2.9"), 2, "Decimal"),
    (Fraction(7, 2), 3, "Fraction"),
    (np.array(2.5), 2, "ndarray"),
]


@pytest.mark.parametrize(("step", "expected", "kind"), ODD_STEPS, ids=repr)
def test_as_step_of_what_python_converts(step, expected, kind):
    """As torch, tensorboardX and TF1 do."""
    text = f"^global_step should be an integer, got {kind}: it is converted with int\\(\\)$"
    with pytest.warns(UserWarning, match=text) as caught:
        assert as_step(step) == expected
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize("tag", ["loss", "a/b", " ", "損失", "🙂", "t" * 100_000])
def test_check_tag(tag):
    check_tag(tag)


NO_TAGS = [
    (b"\xff", ValueError, r"tag must be Unicode text without lone surrogates, got b'\xff'"),
    ("\ud800", ValueError, r"tag must be Unicode text without lone surrogates, got '\ud800'"),
    (5, TypeError, "tag must be a string, got int: 5"),
    (["loss"], TypeError, "tag must be a string, got list: ['loss']"),
]


@pytest.mark.parametrize(("tag", "error", "text"), NO_TAGS)
def test_check_tag_refuses(tag, error, text):
    with pytest.raises(error) as raised:
        check_tag(tag)
    assert str(raised.value) == text


ODD_TAGS = [
    ("", "", "tag should not be empty, got '': TensorBoard shows it without a name"),
    (None, "", "tag should be a string, got NoneType: logged as ''"),
    (b"loss", "loss", "tag should be a string, got bytes: logged as 'loss'"),
]


@pytest.mark.parametrize(("tag", "expected", "text"), ODD_TAGS)
def test_as_tag_of_what_protobuf_converts(tag, expected, text):
    """As torch and tensorboardX do."""
    with pytest.warns(UserWarning, match=f"^{text}$"):
        assert as_tag(tag) == expected


def test_an_odd_value_is_warned_of_once_for_each_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for step in (1.5, 2.5, 3.5):
            as_step(step)
        as_step(4.5)
    assert [warning.lineno - caught[0].lineno for warning in caught] == [0, 1]
