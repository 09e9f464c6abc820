"""GL303 at its edges: how few points tell, what noise can hide, and which validations show that nothing is learnt."""

import numpy as np
from audits.audited import codes, finding


def test_a_flat_loss_is_a_note_where_its_noise_could_hide_a_decrease():
    rng = np.random.default_rng(0)
    few, many = (finding("GL303", loss=2.3 * (1 + 0.1 * rng.standard_normal(n))) for n in (100, 10_000))
    assert few.severity.name == "INFO"
    assert "does not clearly decrease in 100 points" in few.message
    assert "its noise could hide a decrease by" in few.message
    assert many.severity.name == "WARNING"
    assert "does not decrease in 10000 points" in many.message


def test_a_loss_that_explodes_first_and_comes_back_to_its_start_has_learnt_nothing():
    n = np.arange(200)
    loss = 1.365 + 0.01 * np.sin(n) + np.where(n > 0, 3e4 * np.exp(-n / 3), 0)
    found = finding("GL303", loss=loss)
    assert found.severity.name == "WARNING"
    assert found.message == (
        "loss rises from 1.365 at step 0 to 2.15e+04 at step 1, then it is about 1.364 (steps 180-199): nothing was"
        " learnt"
    )
    assert finding("GL303", loss=loss - 0.5 * (n > 100)) is None


def test_a_curve_without_noise_needs_fewer_points():
    n = np.arange(20)
    found = finding("GL303", loss=2.772 - 0.006 * n / 20)
    assert found.message == "loss hardly changes in 20 points: 2.772 at step 0, then 2.766 at step 19"
    assert finding("GL303", loss=2.772 - 0.1 * n / 20) is None
    assert finding("GL303", loss=np.full(19, 2.772)) is None


def test_a_loss_that_fell_early_is_not_said_to_have_stood():
    n = np.arange(30)
    accuracy = np.full(30, 0.639)
    found = finding("GL303", loss=np.where(n, 0.66 + 0.001 * np.sin(n), 1.6e7), val_acc=accuracy)
    assert found.message == "val_acc is 0.639 at all 30 points; nor does loss fall after its first quarter"


def test_validations_that_all_give_the_same_need_few_points():
    """Four are enough, whatever the noise of the training; not if that fell, or if they are just close."""
    train = 2.78 + 0.3 * np.random.default_rng(0).standard_normal(12)
    same = np.array([2.783752, 2.783752, 2.783752, 2.783751])
    found = finding("GL303", train__loss=train, eval__loss=same)
    assert (found.severity.name, found.tag) == ("WARNING", "eval/loss")
    assert found.message == (
        "eval/loss hardly changes in 4 validations: 2.783752 at step 0, then 2.783751 at step 3; nor does"
        " train/loss fall"
    )
    learnt = np.r_[6.0, 4.0, train[2:]]  # a simple model has learnt everything before the first validation
    assert finding("GL303", train__loss=learnt, eval__loss=same) is None
    assert finding("GL303", train__loss=train, eval__loss=same * [1, 0.999, 0.997, 0.995]) is None
    assert finding("GL303", train__loss=train, eval__loss=np.zeros(4)) is None
    assert finding("GL303", train__loss=train, eval__loss=same[1:]) is None
    assert finding("GL303", train__loss=train, eval__loss=same, rollout__ep_rew_mean=train) is None


def test_validations_that_are_the_same_to_the_last_bit():
    train = 1.95 + 0.1 * np.random.default_rng(0).standard_normal(100)
    found = finding("GL303", train_loss=train, val_loss=np.full(8, 1.987))
    assert (found.severity.name, found.message) == (
        "WARNING",
        "val_loss is 1.987 at all 8 points; nor does train_loss fall",
    )


def test_an_accuracy_that_stays_the_same_shows_that_nothing_is_learnt():
    """Not if it is all there is to learn, if a training loss or a validation loss falls, or if there are few points."""
    train = 1.38 + 0.02 * np.random.default_rng(0).standard_normal(22)
    rises, same = 1.39 + 0.001 * np.arange(9), np.full(9, 0.207)
    found = finding("GL303", train_loss=train, val_loss=rises, val_acc=same)
    assert (found.severity.name, found.tag) == ("WARNING", "val_acc")
    assert found.message == "val_acc is 0.207 at all 9 points; nor does train_loss fall"
    assert finding("GL303", train_loss=train, val_loss=1.39 - 0.01 * np.arange(9), val_acc=same) is None
    assert finding("GL303", train_loss=train - 0.03 * np.arange(22), val_loss=rises, val_acc=same) is None
    for accuracy in (same[1:], np.full(9, 0.95), np.zeros(9), np.r_[0.2, same]):
        assert finding("GL303", train_loss=train, val_loss=rises, val_acc=accuracy) is None


def test_a_loss_that_is_much_worse_than_at_first_for_a_part_of_the_run():
    loss = np.interp(np.arange(40), [0, 10, 24, 26, 39], [2.5, 8.2, 8.6, 2.4, 2.2])
    found = finding("GL303", total_loss=loss)
    assert (found.severity.name, found.steps) == ("WARNING", (9, 24))
    assert found.message == (
        "total_loss is 2.5 at step 0, and over 3 times that at 16 of 40 points; its highest point is 8.6 at step 24"
    )
    assert finding("GL303", total_loss=np.minimum(loss, 7.4)) is None
    assert (
        finding("GL303", total_loss=np.where(np.arange(40) == 20, 9.0, 2.5 - np.arange(40) / 40)) is None
    )  # one spike
    assert finding("GL303", total_loss=loss, rollout__ep_rew_mean=loss) is None
    noisy = np.exp(1.5 * np.random.default_rng(0).standard_normal(400)) * np.linspace(2, 0.2, 400)
    assert finding("GL303", total_loss=np.r_[0.2, noisy]) is None  # its first point is low by chance


def test_opponents_that_both_rest():
    still = 0.01 * np.sin(np.arange(100))
    found = finding("GL303", loss_D=1.386 + still, loss_G=0.693 + still / 4)
    assert found.message.startswith("loss_D hardly changes in 100 points: ")
    assert found.message.endswith("; nor does loss_G")
    moving = 0.7 + 0.1 * np.sin(np.arange(100) / 9)
    assert finding("GL303", loss_D=1.386 + still, loss_G=moving) is None
    improves = np.exp(-np.arange(100) / 30)
    assert finding("GL303", loss_D=1.386 + still, loss_G=0.693 + still / 4, eval__energy_dist=improves) is None


def test_a_first_point_that_is_low_by_chance_is_no_start():
    """The difference of two points has the noise of both."""
    for seed in (26, 84, 125, 127, 138):
        loss = 0.3 * np.random.default_rng(seed).gamma(2.0, 0.5, 150)
        assert "GL303" not in codes(loss=loss)
