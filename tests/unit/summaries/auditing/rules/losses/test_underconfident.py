"""GL317: losses of a model that is right and cannot say so."""

import math

import numpy as np
import pytest
from audits.audited import codes, finding

N = np.arange(14)
RIGHT = 0.96 - 0.6 * 0.6**N


def twice(classes, right=RIGHT):
    """What sure models cost."""
    return math.log(math.e + classes - 1) - right


def test_a_loss_that_is_high_where_nearly_all_are_right():
    found = finding("GL317", train_loss=twice(10), train_acc=RIGHT)
    assert found.message == (
        "train_loss is about 1.505 (steps 7-13) where train_acc is about 0.9564 (steps 7-13): as a softmax of a softmax"
        " costs among 10 classes, which is never below 1.461"
    )
    assert found.severity.name == "WARNING"
    assert "about 99 classes" in finding("GL317", train_loss=twice(99), train_acc=100 * RIGHT).message


@pytest.mark.parametrize("classes", [5, 10, 100])
def test_all_losses_beside_accuracies_must_be_as_high(classes):
    training = {"train_loss": twice(classes), "train_acc": RIGHT}
    validation = {"val_loss": twice(classes, RIGHT - 0.02), "val_acc": RIGHT - 0.02}
    assert "GL317" in codes(**training, **validation)
    assert "GL317" in codes(train_loss=twice(classes), **validation)
    assert "GL317" not in codes(**training, **(validation | {"val_loss": 0.1 + 2 * 0.5**N}))
    assert "GL317" not in codes(**(training | {"train_loss": 2 * 0.5**N}), **validation)
    assert "GL317" not in codes(train_loss=2 * 0.5**N, **validation)  # beside no accuracy


def test_a_loss_that_is_hardly_below_guessing_where_nearly_all_are_right():
    loss = math.log(128) - 0.1 * (1 - 0.6**N)
    found = finding("GL317", train_loss=loss, train_acc=RIGHT)
    assert found.message == (
        "train_loss is about 4.753 (steps 7-13) where train_acc is about 0.9564 (steps 7-13), and 4.852 = ln 128 is"
        " guessing among 128: it is right, and cannot say so"
    )
    assert "GL309" not in codes(train_loss=loss, train_acc=RIGHT)  # no guess
    assert "GL317" not in codes(train_loss=loss, train_acc=0.02 * RIGHT)
    assert "GL317" not in codes(train_loss=loss, train_acc=RIGHT, val_loss=4.85 - 2 * RIGHT, val_acc=RIGHT)


@pytest.mark.parametrize("labels", [0.0, 0.1])
def test_other_losses_are_none(labels):
    """With labels that are smoothed by a tenth, among ten: about 0.5 at best."""
    loss = 0.1 + 0.4 * (labels > 0) + 2 * 0.6**N
    assert "GL317" not in codes(train_loss=loss, train_acc=RIGHT)
    assert "GL317" not in codes(train_loss=twice(10) + 0.05, train_acc=RIGHT)
    assert "GL317" not in codes(train_loss=loss + 1, train_acc=RIGHT)  # with a penalty
    assert "GL317" not in codes(train_loss=1e4 * loss, train_acc=RIGHT)
    assert "GL317" not in codes(train_loss=twice(10)[:5], train_acc=RIGHT[:5])
    assert "GL317" not in codes(train_loss=twice(3), train_acc=RIGHT)
    assert "GL317" not in codes(train_loss=twice(10), train_acc=0 * N)
    assert "GL317" not in codes(train_loss=1.7 + 0.6**N, train_acc=0.75 - 0.6 * 0.6**N)  # others cost as much
