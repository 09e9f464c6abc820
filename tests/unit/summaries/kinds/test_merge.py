"""Merged summaries: all values in order, and what is refused, word for word."""

import pytest

import summaries

REFUSED = {
    "the same tag twice": (
        summaries.merge,
        ([summaries.scalar("a", 1), summaries.scalar("a", 2)],),
        ValueError,
        "each tag may occur once in merged summaries, got duplicates of ['a']",
    ),
    "nothing to merge": (
        summaries.merge,
        (None,),
        TypeError,
        "summaries must be an iterable of Summary messages, got NoneType",
    ),
    "no summaries to merge": (
        summaries.merge,
        ([1],),
        TypeError,
        "each of summaries must be a protobuf message or its bytes, got int",
    ),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text
