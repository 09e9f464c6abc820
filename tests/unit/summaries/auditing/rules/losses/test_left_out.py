"""GL318: a test that is far worse than the validation."""

import numpy as np
from audits.audited import codes, finding

N = np.arange(12)
FALL = 0.02 + 0.2 * 0.6**N


def test_an_error_that_is_far_higher():
    found = finding("GL318", MAE__val=FALL, MAE__test=np.array([0.35]))
    assert found.message == (
        "MAE/test is 0.35 at step 0, and MAE/val 0.02073 at step 11: the data of the validation are not like those of"
        " the test, or were seen in the training"
    )
    assert (found.severity.name, found.others) == ("WARNING", ("MAE/val",))
    assert finding("GL318", MAE__val=FALL, MAE__test=np.array([0.06])) is None
    assert finding("GL318", MAE__val=FALL[:3], MAE__test=np.array([0.9])) is None
    assert finding("GL318", MAE__val=FALL, RMSE__test=np.array([0.9])) is None  # another measure
    assert finding("GL318", MAE__train=FALL, MAE__test=np.array([0.9])) is None
    assert finding("GL318", loss__val=FALL - 3, loss__test=np.array([33.0])) is None


def test_a_share_that_is_far_lower():
    right = 1 - FALL
    assert "GL318" in codes(val_acc=right, test_acc=np.array([0.6]))
    assert "GL318" in codes(val_acc=100 * right, test_acc=np.array([60.0]))
    assert "GL318" not in codes(val_acc=right, test_acc=np.array([0.8]))
    assert "GL318" not in codes(val_acc=100 * right, test_acc=np.array([0.97]))  # of 1, not of 100
    assert "GL318" not in codes(val_r2=right, test_r2=np.array([0.9]))
