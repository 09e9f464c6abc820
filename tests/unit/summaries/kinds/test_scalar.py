"""Scalar summaries, and the share of zeros: what they hold, and what is refused, word for word."""

import numpy as np
import pytest

import summaries

REFUSED = {
    "a tag that is no string": (summaries.scalar, (7, 0.5), TypeError, "tag must be a string, got int: 7"),
    "a tag that is no text": (
        summaries.scalar,
        ("\ud800", 0.5),
        ValueError,
        "tag must be Unicode text without lone surrogates, got '\\ud800'",
    ),
    "several numbers": (
        summaries.scalar,
        ("a", [1, 2]),
        TypeError,
        "scalar_value must be a number, got list: [1, 2]",
    ),
    "an array of several": (
        summaries.scalar,
        ("a", np.zeros(3)),
        ValueError,
        "scalar_value must be one number, got an array of shape (3,)",
    ),
    "a complex number": (
        summaries.scalar,
        ("a", 1j),
        TypeError,
        "scalar_value must be a number, got complex: 1j",
    ),
    "no numbers": (
        summaries.zero_fraction,
        ("a", ["x"]),
        TypeError,
        "values must be an array of numbers, got list of dtype <U1",
    ),
    "a masked number": (
        summaries.scalar,
        ("a", np.ma.masked),
        TypeError,
        "scalar_value must be a number, got MaskedConstant: masked",
    ),
    "a time": (
        summaries.scalar,
        ("a", np.timedelta64(1, "ns")),
        TypeError,
        "scalar_value must be a number, got timedelta64: np.timedelta64(1,'ns')",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def test_double_precision_is_for_the_new_style_only():
    assert summaries.scalar("a", 0.1, double_precision=True) == summaries.scalar("a", 0.1)
    text = (
        "scalar 'deep' is stored with double precision: TensorBoard shows it only with --load_fast=false; "
        "warned once per tag"
    )
    with pytest.warns(UserWarning, match=f"^{text}$"):
        value = summaries.scalar("deep", 0.1, new_style=True, double_precision=True).value[0]
    assert np.frombuffer(value.tensor.tensor_content).tolist() == [0.1]
