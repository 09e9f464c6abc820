"""MetadataOnce: which metadata a file gets, and which it has already."""

import numpy as np
import pytest

from summaries import ScalarsTemplate, Summary, scalar, tensor, text
from summaries.kinds.metadata import MetadataOnce


def described(once, summary):
    """Whether each value keeps its metadata, as one file after the other call of add_summary would have it."""
    data, new = once.without_written(summary.SerializeToString())
    once.note(new)
    return [value.HasField("metadata") for value in Summary.FromString(data).value]


def test_the_first_value_of_a_tag_keeps_it():
    once = MetadataOnce()
    assert [described(once, text("a", word)) for word in ("one", "two")] == [[True], [False]]
    assert described(once, text("b", "one")) == [True]


def test_the_value_is_left_whole():
    once = MetadataOnce()
    summary = tensor("weights", np.eye(3))
    once.note(once.without_written(summary.SerializeToString())[1])
    (value,) = Summary.FromString(once.without_written(summary.SerializeToString())[0]).value
    assert (value.tag, value.tensor) == ("weights", summary.value[0].tensor)


def test_metadata_that_differs_is_kept():
    once = MetadataOnce()
    titles = ["one", "two", "one"]
    assert [described(once, scalar("a", 1, display_name=title)) for title in titles] == [[True], [True], [False]]


def test_hparams_are_metadata_and_nothing_else():
    once, summary = MetadataOnce(), Summary()
    summary.value.add(tag="_hparams_/session_start_info").metadata.plugin_data.plugin_name = "hparams"
    assert [described(once, summary) for _ in range(2)] == [[True], [True]]


def test_what_is_not_written_yet_is_not_left_out():
    once, data = MetadataOnce(), text("a", "one").SerializeToString()
    once.without_written(data)  # by a thread that logs later than this one
    assert once.without_written(data)[0] == data


def test_a_new_file_has_its_own():
    once, summary = MetadataOnce(), text("a", "one")
    assert described(once, summary) == [True]
    once.begin_file()
    assert described(once, summary) == [True]


@pytest.mark.parametrize("data", [ScalarsTemplate(["J"]).filled([1.0]), scalar("J", 1).SerializeToString(), b""])
def test_data_without_metadata_is_the_same(data):
    assert MetadataOnce().without_written(data) == (data, {})
