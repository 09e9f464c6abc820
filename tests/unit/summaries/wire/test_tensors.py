"""Arrays and TensorProtos: there and back in every dtype, values that are left out, and what is refused."""

import ml_dtypes
import numpy as np
import pytest

from summaries.wire import pb
from summaries.wire.tensors import decode_tensor, numeric_tensor, scalar_value, string_tensor

DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16", ">f4", ">i8"]


def shape(*sizes):
    return pb.TensorShapeProto(dim=[pb.TensorShapeProto.Dim(size=size) for size in sizes])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "array", [np.arange(6).reshape(2, 3), np.array(1), np.zeros((0, 4))], ids=["matrix", "0-d", "empty"]
)
def test_there_and_back(array, dtype):
    array = array.astype(dtype)
    got = decode_tensor(numeric_tensor(array))
    assert got.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(got, array, strict=False)
    assert got.shape == array.shape


def test_bfloat16_becomes_float32():
    array = np.array([1.5, -0.0, np.inf, 3e38], ml_dtypes.bfloat16)
    got = decode_tensor(numeric_tensor(array))
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, array.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_torch_writes_16_bit_floats_as_float32(dtype):
    array = np.array([1.5, -0.0, 0.0, np.inf, -3e4, 6e-8, 0.1]).astype(dtype)
    kind = pb.DT_HALF if dtype is np.float16 else pb.DT_BFLOAT16
    as_torch = pb.TensorProto(
        dtype=kind, tensor_shape=shape(7), half_val=array.astype(np.float32).view(np.int32).tolist()
    )
    as_tensorflow = pb.TensorProto(dtype=kind, tensor_shape=shape(7), half_val=array.view(np.uint16).tolist())
    for message in as_torch, as_tensorflow:
        got = decode_tensor(message)
        assert got.tolist() == array.astype(np.float32).tolist()
        assert np.signbit(got[1])


def test_a_number_that_no_half_holds_is_infinite():
    assert decode_tensor(pb.TensorProto(dtype=pb.DT_HALF, half_val=[0x7149F2CA])).tolist() == np.inf


def test_typed_values():
    def one(dtype, **values):
        return decode_tensor(pb.TensorProto(dtype=dtype, tensor_shape=shape(2), **values)).tolist()

    assert one(pb.DT_DOUBLE, double_val=[1.5, 2.5]) == [1.5, 2.5]
    assert one(pb.DT_HALF, half_val=[0x3C00, 0xC000]) == [1.0, -2.0]
    assert one(pb.DT_INT8, int_val=[-1, 2]) == [-1, 2]
    assert one(pb.DT_UINT64, uint64_val=[2**64 - 1, 0]) == [2**64 - 1, 0]
    assert one(pb.DT_UINT32, uint32_val=[2**32 - 1, 0]) == [2**32 - 1, 0]
    assert one(pb.DT_BOOL, bool_val=[True, False]) == [True, False]
    assert one(pb.DT_COMPLEX64, scomplex_val=[1, 2, 3, 4]) == [1 + 2j, 3 + 4j]
    assert one(pb.DT_COMPLEX128, dcomplex_val=[1, 2, 3, 4]) == [1 + 2j, 3 + 4j]


@pytest.mark.parametrize(("values", "want"), [([7.0], [7.0] * 4), ([1.0, 2.0], [1.0, 2.0, 2.0, 2.0])])
def test_the_last_value_goes_on(values, want):
    tensor = pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(2, 2), float_val=values)
    assert decode_tensor(tensor).ravel().tolist() == want


def test_strings():
    assert decode_tensor(string_tensor([b"a", b""], [2])).tolist() == [b"a", b""]
    assert decode_tensor(string_tensor([b"a"], [])).item() == b"a"


REFUSED = {
    "a shape that is not known": (
        pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(2, -1)),
        "a tensor's shape must be known, got (2, -1)",
    ),
    "no value": (
        pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(3)),
        "a tensor of shape (3,) must have 3 values, got 0",
    ),
    "too many values": (
        pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(1), float_val=[1, 2]),
        "a tensor of shape (1,) must have 1 values, got 2",
    ),
    "more than any message": (
        pb.TensorProto(dtype=pb.DT_FLOAT, tensor_shape=shape(2**30), float_val=[1, 2]),
        "a tensor of shape (1073741824,) must have 1073741824 values, got 2",
    ),
    "half of a complex number": (
        pb.TensorProto(dtype=pb.DT_COMPLEX64, tensor_shape=shape(1), scomplex_val=[1, 2, 3]),
        "complex values must come in pairs, got 3 numbers",
    ),
    "no type": (pb.TensorProto(tensor_shape=shape(1)), "tensor type 0 has no equivalent in NumPy"),
}


@pytest.mark.parametrize(("tensor", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(tensor, text):
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the whole text is compared
        decode_tensor(tensor)
    assert str(raised.value) == text
    assert scalar_value(tensor) is None


@pytest.mark.parametrize(
    ("array", "want"),
    [
        (np.float32(2.5), 2.5),
        (np.array([[True]]), 1.0),
        (np.uint8(3), 3.0),
        (1j, None),
        (np.zeros(2), None),
        (np.zeros(0), None),
    ],
)
def test_scalar_value(array, want):
    assert scalar_value(numeric_tensor(np.asarray(array))) == want


def test_a_dtype_that_tensorflow_has_not():
    with pytest.raises(TypeError, match=r"^tensor must have one of the dtypes float64, .*, bool, got datetime64\[s\]$"):
        numeric_tensor(np.zeros(1, "datetime64[s]"))
