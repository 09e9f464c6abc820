"""diff: where runs part, what only one has, and how far curves are apart."""

import math

import numpy as np
import pytest
from event_data.odd_runs import NAME, ODD_RUNS, VERSION, WHOLE, event, losses, write_odd_runs

from summaries import histogram, hparams, read_run, tensor, text
from summaries.tools import diff


@pytest.fixture
def compared(tmp_path):
    """Write two runs of these bytes, and compare them."""

    def compare(a, b, **options):
        for name, data in (("a", a), ("b", b)):
            (tmp_path / name).mkdir()
            (tmp_path / name / NAME).write_bytes(data)
        return diff(tmp_path / "a", tmp_path / "b", **options).runs["."]

    return compare


@pytest.mark.parametrize("name", ODD_RUNS)
def test_a_run_is_the_same_as_itself(name, compared):
    found = compared(ODD_RUNS[name], ODD_RUNS[name])
    assert not found.different
    assert found.first_step is None


def test_where_and_how_far(compared):
    found = compared(losses([4.0, 3.0, 2.0, 0.0]), losses([4.0, 2.0, 4.0, 0.0]))
    [loss] = found.tags
    assert (loss.common, loss.only, loss.unequal, loss.first_step, found.first_step) == (4, (0, 0), 2, 1, 1)
    distance = loss.distance
    assert (distance.max, distance.max_step, distance.mean, distance.last) == (2.0, 2, 0.75, (0.0, 0.0))
    assert (distance.max_relative, distance.mean_relative) == pytest.approx((0.5, (1 / 3 + 0.5) / 4))


TOLERANCES = {
    "exact": ({}, 2),
    "absolute": ({"atol": 1.0}, 1),
    "relative to the larger": ({"rtol": 0.5}, 0),
    "both": ({"rtol": 0.25, "atol": 0.25}, 1),
}


@pytest.mark.parametrize(("tolerance", "unequal"), TOLERANCES.values(), ids=TOLERANCES)
def test_tolerances(tolerance, unequal, compared):
    found = compared(losses([4.0, 3.0, 2.0]), losses([4.0, 2.0, 4.0]), **tolerance)
    assert found.tags[0].unequal == unequal
    assert found.different == bool(unequal)


def test_what_is_not_finite(compared):
    nan, inf = math.nan, math.inf
    found = compared(losses([nan, nan, inf, inf, 1.0]), losses([nan, 1.0, inf, -inf, 2.0]), atol=5.0)
    [loss] = found.tags
    assert (loss.unequal, loss.first_step, loss.distance.max) == (2, 1, 1.0)


def test_no_difference_overflows(compared):
    [loss] = compared(ODD_RUNS["huge values"], VERSION + event(0) + losses([0.0, 1.0])).tags
    assert (loss.unequal, loss.distance.max, loss.distance.max_relative) == (2, 1.7e308, 1.0)


def test_points_that_a_restart_superseded_do_not_count(compared):
    assert not compared(ODD_RUNS["restarts"], losses([4.0, 3.0, 2.5, 1.5])).different


def test_steps_that_only_one_has(compared):
    found = compared(WHOLE, WHOLE + losses([0.5, 0.25], first=3))
    [loss] = found.tags
    assert (loss.common, loss.only, loss.first_step, found.different) == (3, (0, 2), None, True)


def test_steps_that_only_one_has_may_be_left_out(compared):
    assert not compared(WHOLE, WHOLE + losses([0.5], first=3), common_steps=True).different


def test_tags_and_hyperparameters(compared):
    a = WHOLE + losses([1.0], "a") + event(summary=hparams({"lr": 0.1, "depth": 3, "same": 1}, {}))
    b = WHOLE + losses([1.0], "b") + event(summary=hparams({"lr": 0.2, "width": 4, "same": 1}, {}))
    found = compared(a, b)
    assert found.only == (("a",), ("b",))
    assert found.hyperparameters == {"depth": (3.0, None), "lr": (0.1, 0.2), "width": (None, 4.0)}
    assert not found.different_tags


def test_a_tag_of_two_kinds_is_in_only_one_as_each(compared):
    found = compared(losses([1.0], "mixed"), event(summary=tensor("mixed", np.zeros(3))))
    assert found.only == (("mixed",), ("mixed",))


OTHER_KINDS = {
    "texts": (text("t", "a"), text("t", "b")),
    "histograms": (histogram("t", np.arange(9.0)), histogram("t", np.arange(8.0))),
    "tensors": (tensor("t", np.zeros(3)), tensor("t", np.ones(3))),
    "shapes": (tensor("t", np.zeros(3)), tensor("t", np.zeros(4))),
    "dtypes": (tensor("t", np.zeros(3)), tensor("t", np.zeros(3, int))),
}


@pytest.mark.parametrize(("a", "b"), OTHER_KINDS.values(), ids=OTHER_KINDS)
def test_other_kinds(a, b, compared):
    found = compared(event(0, summary=a) + event(7, summary=a), event(0, summary=a) + event(7, summary=b))
    [tag] = found.tags
    assert (tag.common, tag.unequal, tag.first_step, tag.distance) == (2, 1, 7, None)


def test_tensors_have_tolerances_too(compared):
    a, b = (event(summary=tensor("t", np.full(3, value))) for value in (1.0, 1.1))
    assert not compared(a, b, rtol=0.1).different


def test_directories_by_the_names_of_their_runs(tmp_path):
    for place, names in (("a", "xyz"), ("b", "yzw")):
        for name in names:
            (tmp_path / place / name).mkdir(parents=True)
            (tmp_path / place / name / NAME).write_bytes(WHOLE if name != "z" else losses([ord(place)]))
    found = diff(tmp_path / "a", tmp_path / "b")
    assert found.only == (("x",), ("w",))
    assert {name: run.different for name, run in found.runs.items()} == {"y": False, "z": True}
    assert found.different
    assert not diff(tmp_path / "a", tmp_path / "b", runs="y").different


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tags": "los"}, "no tag matches 'los'; there is loss"),
        ({"tags": ["loss", "acc*"]}, "no tag matches 'acc*'; there is loss"),
        ({"runs": "c"}, "no run matches 'c'; there are a and b"),
    ],
)
def test_a_pattern_that_matches_nothing_is_not_the_same(options, message, tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(WHOLE)
    with pytest.raises(LookupError) as caught:
        diff(tmp_path, tmp_path, **options)
    assert caught.value.args == (message,)


def test_runs_that_were_read(tmp_path):
    (tmp_path / NAME).write_bytes(WHOLE)
    told = []
    run = read_run(tmp_path)
    assert not diff(run, {".": run}, on_run=lambda name, both: told.append((name, both))).different
    assert told == [(".", (run, run))]


def test_odd_runs_beside_each_other(tmp_path):
    paths = write_odd_runs(tmp_path)[:-1]
    for path in paths:
        diff(path, paths[5])
        diff(paths[5], path)


@pytest.mark.parametrize(("name", "value"), [("rtol", -1.0), ("atol", math.nan)])
def test_tolerances_that_are_none(name, value, tmp_path):
    with pytest.raises(ValueError, match=f"^{name} must be at least 0, got {value}$"):
        diff(tmp_path, tmp_path, **{name: value})


def test_tags_that_measure_the_machine_do_not_count(compared):
    speeds = [losses(values, "train/global_step_per_sec") for values in ([5.0, 6.0], [5.5, 6.5])]
    found = compared(WHOLE + speeds[0], WHOLE + speeds[1])
    assert not found.different
    assert [tag.tag for tag in found.tags] == ["loss"]
    assert found.of_machine == ("train/global_step_per_sec",)


def test_tags_that_measure_the_machine_count_if_asked_for(compared):
    speeds = [losses(values, "train/samples_per_second") for values in ([5.0, 6.0], [5.5, 6.5])]
    found = compared(*speeds, tags="*per_second")
    assert (found.different, found.of_machine) == (True, ())


@pytest.mark.parametrize(
    ("tag", "counts"),
    [
        ("train/global_step_per_sec", False),
        ("train/train_samples_per_second", False),
        ("eval/runtime", False),
        ("throughput/tokens_per_sec", False),
        ("step_time_ms", False),
        ("gpu/0/utilization", False),
        ("train/loss", True),
        ("batch_loss", True),
        ("gradients/norm/s", True),
        ("weights/norm/cpu", True),
        ("val/time_series_error", True),
    ],
)
def test_which_tags_measure_the_machine(compared, tag, counts):
    found = compared(losses([1.0], tag), losses([2.0], tag))
    assert found.different == counts
