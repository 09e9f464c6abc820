"""Warnings about odd values come once per tag and name the user's line."""

import warnings

import pytest

from summaries import SummaryWriter
from summaries.kinds.odd_values import warn_odd


def test_once_for_each_kind_tag_and_problem():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for value in (1, 2):
            for kind, tag, problem in [("sound", "a", "hums"), ("sound", "b", "hums"), ("sound", "a", "hisses")]:
                warn_odd(kind, tag, problem, "it is kept", value)
    assert [str(warning.message) for warning in caught] == [
        "sound 'a' hums, such as 1: it is kept; warned once per tag",
        "sound 'b' hums, such as 1: it is kept; warned once per tag",
        "sound 'a' hisses, such as 1: it is kept; warned once per tag",
    ]


def test_without_an_example():
    with pytest.warns(UserWarning, match=r"^sound 'c' hums: it is kept; warned once per tag$"):
        warn_odd("sound", "c", "hums", "it is kept")


def test_the_warning_names_the_line_that_logged(logdir):
    with SummaryWriter(logdir) as writer, pytest.warns(UserWarning, match="named") as caught:
        writer.add_audio("named", [2.0, 0.5])
    assert [warning.filename for warning in caught] == [__file__]
