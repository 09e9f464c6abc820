"""Text summaries: the string that is kept, and what is refused, word for word."""

import pytest

import summaries

REFUSED = {
    "a text of bytes": (summaries.text, ("a", b"x"), TypeError, "text_string must be a string, got bytes: b'x'"),
}


@pytest.mark.parametrize(("build", "args", "kind", "text"), REFUSED.values(), ids=REFUSED)
def test_what_the_error_says(build, args, kind, text):
    with pytest.raises(kind) as caught:
        build(*args)
    assert str(caught.value) == text


def test_a_tag_of_bytes_becomes_text():
    with pytest.warns(UserWarning, match="^tag should be a string, got bytes: logged as 'note'$"):
        assert summaries.text(b"note", "x") == summaries.text("note", "x")
