"""Patterns of names."""

import pytest

from summaries.patterns import demand_match, matcher, several


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


@pytest.mark.parametrize(("patterns", "one"), [(3, 3), (b"loss", b"loss"), (["loss", 3], 3), ([None], None)])
@pytest.mark.parametrize("function", [matcher, several])
def test_a_pattern_is_a_string(patterns, one, function):
    with pytest.raises(TypeError) as raised:
        function(patterns)
    assert str(raised.value) == f"names are chosen by a string such as 'loss*', or by several, got {one!r}"


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
