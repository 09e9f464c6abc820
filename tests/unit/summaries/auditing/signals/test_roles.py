"""Roles by words at their edges; `test_tags` has the lists."""

import pytest

from summaries.auditing.signals.roles import WORD_ROLES, is_on_another_axis, role_by_words, without_split


@pytest.mark.parametrize("tag", ["timeline", "epochal", "accumulate", "rewardless", "stepwise", "", "map", "weights/1"])
def test_parts_of_words_tell_nothing(tag):
    assert role_by_words(tag) in {"", "metric"} - ({"metric"} if tag != "map" else set())


def test_all_roles_are_told():
    tags = ["rewards/step", "ep_len", "val/f1", "epoch"]
    assert {role_by_words(tag) for tag in tags} | {"other_axis"} == WORD_ROLES


def test_an_axis_needs_the_same_values_under_another_tag():
    assert is_on_another_axis("a/time", {"a", "a/time"})
    assert is_on_another_axis("a/iter", {"a/frame", "a/iter"})
    assert not is_on_another_axis("a/time", {"a/time", "b"})
    assert not is_on_another_axis("time", {"time"})


@pytest.mark.parametrize(
    ("tag", "rest"),
    [("val/box_loss", "box loss"), ("Loss_val", "loss"), ("train_loss", "loss"), ("lm loss validation", "lm loss")],
)
def test_words_without_the_split(tag, rest):
    assert without_split(tag) == rest
