"""GL316: every example counts as positive, or nothing is found."""

import numpy as np
from audits.audited import finding


def test_recalls_of_one_beside_a_precision_that_never_changes():
    n = np.arange(9)
    of = {"train/loss": 1.1 - 0.03 * n, "val_recall": np.ones(9), "val_precision": np.full(9, 0.136)}
    assert finding("GL316", **of).message == (
        "val_recall is exactly 1 at all 9 points, and val_precision exactly 0.136 at all 9 points: every example counts"
        " as positive"
    )
    assert finding("GL316", **(of | {"val_precision": np.ones(9)})) is None
    assert finding("GL316", **(of | {"val_precision": 0.136 + 0.01 * n})) is None


def test_metrics_that_come_to_nothing():
    n = np.arange(10)
    of = {"train_loss": 0.5 - 0.01 * n, "val_iou": np.where(n, 0.0, 0.004), "val_dice": np.where(n, 0.0, 0.0075)}
    found = finding("GL316", **of)
    assert found.message == "val_iou is exactly 0 at its last 9 of 10 points; so is val_dice"
    assert (found.severity.name, found.steps) == ("WARNING", (1, 1))
    assert finding("GL316", **{tag: value[:8] for tag, value in of.items()}) is None  # it may yet begin
    assert finding("GL316", **(of | {"rollout/ep_rew_mean": n})) is None
