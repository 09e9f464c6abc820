"""Tensor summaries: dtypes that are kept, and what is refused, word for word."""

import ml_dtypes
import numpy as np
import pytest

import summaries
from summaries.wire import pb
from summaries.wire.tensors import decode_tensor

REFUSED = {
    "a tensor of dates": (
        summaries.tensor,
        ("a", np.zeros(2, "datetime64[s]")),
        TypeError,
        "tensor must be an array of numbers, got ndarray of dtype datetime64[s]",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    "dtype",
    ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "c8", "c16", ">f4", ">i8"],
)
def test_tensors_keep_their_dtype(dtype):
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.util.tensor_util import make_ndarray

    array = np.arange(6).reshape(2, 3).astype(dtype)
    ours = summaries.tensor("t", array).value[0].tensor
    theirs = make_ndarray(TensorProto.FromString(ours.SerializeToString()))
    assert theirs.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(theirs, array)


def test_bfloat16_keeps_its_dtype_and_bits():
    array = np.array([[1.5, -0.0, 3e38], [np.inf, 1e-40, -7.0]], ml_dtypes.bfloat16)
    ours = summaries.tensor("t", array).value[0].tensor
    assert ours.dtype == pb.DT_BFLOAT16
    assert ours.tensor_content == array.tobytes()
    assert decode_tensor(ours).tolist() == array.astype(np.float32).tolist()
