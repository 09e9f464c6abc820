"""Patterns of names."""

import pytest

from summaries.patterns import demand_match, matcher


@pytest.mark.parametrize(
    ("patterns", "name", "matches"),
    [
        (None, "anything", True),
        ((), "anything", False),
        ("loss", "loss", True),
        ("loss", "loss/train", False),
        ("loss*", "loss/train", True),
        ("*", "a\nb/c", True),
        ("Loss", "loss", False),
        ("*.[bw]", "layer.w", True),
        ("layers[0].weight", "layers[0].weight", True),
        (["a", "b?"], "b1", True),
        (["a", "b?"], "ab1", False),
    ],
)
def test_which_names_match(patterns, name, matches):
    assert matcher(patterns)(name) is matches


@pytest.mark.parametrize(
    ("names", "there"),
    [
        ([], "there is none"),
        (["a"], "there is a"),
        (["a", "b", "a"], "there are a and b"),
        (["."], "there is only '.', the place itself"),
    ],
)
def test_a_pattern_must_match(names, there):
    with pytest.raises(LookupError) as caught:
        demand_match("run", ["*", "x"] if names else "x", names)
    assert caught.value.args == (f"no run matches 'x'; {there}",)


def test_patterns_that_match_are_fine():
    demand_match("tag", None, [])
    demand_match("tag", "a*", ["b", "ab"])
