"""What is an array, of whichever library. The table of both conversions is in tests/unit/test_foreign_arrays.py."""

import builtins
import sys
import types

import numpy as np
import pytest

from summaries.foreign_arrays import array_like, to_numpy


@pytest.mark.parametrize("value", [None, "text", b"bytes", bytearray(b"bytes"), [1.0], (1.0,), 1.0, {}, object()])
def test_what_is_not_an_array(value):
    assert to_numpy(value) is None


def test_numbers_and_sequences_may_be_taken():
    assert array_like(1.5).tolist() == 1.5
    assert array_like([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="inhomogeneous"):
        array_like([[1.0], [1.0, 2.0]])


class Bfloat16:
    """A torch tensor of bfloat16, as far as the conversion looks at it."""

    dtype, itemsize = "torch.bfloat16", 2

    def __getattr__(self, name):
        if name in {"detach", "cpu", "to_dense", "resolve_conj", "resolve_neg"}:
            return lambda: self
        raise AttributeError(name)

    def numpy(self):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self):
        return np.float32([1.0, -2.0]).view(Widened)

    def view(self, dtype):
        return (np.float32([1.0, -2.0]).view(np.int32) >> 16).astype(dtype).view(Widened)


class Widened(np.ndarray):
    def numpy(self):
        return np.asarray(self)


@pytest.fixture(autouse=True)
def _torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(int16=np.int16))


def test_bfloat16_keeps_its_dtype():
    array = to_numpy(Bfloat16())
    assert (array.dtype.name, array.tolist()) == ("bfloat16", [1.0, -2.0])


def test_bfloat16_needs_ml_dtypes_unless_it_is_widened(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args):
        if name == "ml_dtypes":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"^bfloat16 tensors need ml_dtypes: pip install ml_dtypes$"):
        to_numpy(Bfloat16())
    array = to_numpy(Bfloat16(), widened=True)
    assert (array.dtype, array.tolist()) == (np.float32, [1.0, -2.0])
