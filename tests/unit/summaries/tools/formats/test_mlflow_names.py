"""Names for MLflow: valid, and of one run no two the same or one the folder of another."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.tools.formats.mlflow import Names

parts = st.sampled_from(["a", "A", "b", "a_", "", ".", "..", "é", "\n", "_"])
tags = st.one_of(st.lists(parts, min_size=1, max_size=4).map("/".join), st.text(max_size=8))


@given(st.lists(tags, unique=True, max_size=12))
def test_each_is_a_file_of_its_own(tags):
    names = Names()
    found = names.of(tags)
    assert list(found) == tags
    low = [name.casefold() for name in found.values()]
    assert len(set(low)) == len(tags)
    assert not any(other.startswith(name + "/") for name in low for other in low)
    for tag, name in found.items():
        assert re.fullmatch(r"[A-Za-z0-9_\-. :/]+", name)
        assert all(set(part) - {"."} for part in name.split("/"))
        assert names.changed.get(tag, tag) == name


@pytest.mark.parametrize("tag", ["loss", "train/loss", "a b-c.d:e_f", "v1.2/x"])
def test_what_mlflow_takes_stays(tag):
    names = Names()
    assert (names.of([tag, "größe"])[tag], list(names.changed)) == (tag, ["größe"])


def test_a_long_name():
    (name,) = Names().of(["x" * 1000]).values()
    assert len(name) == 250
