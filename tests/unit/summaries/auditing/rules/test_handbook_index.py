"""The index of the rules: what the rules themselves say."""

from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import index, made, read


def test_the_index_is_that_of_the_rules():
    assert read("index.json") == made(), "stale: put there what python -m summaries.auditing.rules.handbook prints"


def test_an_entry():
    assert [*index()] == [*RULES]
    assert index()["GL404"] == (
        "clipping-saturated",
        "warning",
        (
            "fraction = 0.9  # a number from 0 to 1",
            "min_points = 100  # a whole number of at least 1",
            "min_shares = 20  # a whole number of at least 1",
        ),
        (
            "Gradients, clipping, updates: every step is clipped",
            "Gradients, clipping, updates: gradients explode, the gradient norm grows",
        ),
    )
