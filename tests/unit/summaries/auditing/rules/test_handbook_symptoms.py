"""The search by symptom: its codes are those of rules, and each rule can be found."""

import pytest

from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import about, symptoms

ROWS = [row for rows in symptoms().values() for row in rows.items()]


def test_every_rule_has_a_symptom():
    assert {code for _, codes in ROWS for code in codes} == set(RULES)


def test_there_is_something_to_see_everywhere():
    assert all(symptoms().values())


def test_the_likeliest_rule_is_the_one_whose_page_lists_the_symptom_first():
    assert symptoms()["Losses and metrics"]["the loss is NaN, or infinite"] == ["GL301", "GL401"]
    assert symptoms()["Files"]["a file cannot be decoded, is no event file, is a Git LFS pointer"][0] == "GL104"


def test_no_symptom_stands_twice():
    assert len(ROWS) == len(dict(ROWS))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("loss NaN", "GL301"),
        ("loss flat", "GL303"),
        ("loss goes up", "GL304"),
        ("my loss is stuck", "GL303"),
        ("training got slower", "GL207"),
        ("job hangs", "GL204"),
        ("gradients explode", "GL402"),
        ("run restarted curves double", "GL201"),
        ("TensorBoard shows no data", "GL107"),
        ("loss spike", "GL302"),
        ("overfitting", "GL305"),
        ("dead ReLU", "GL406"),
        ("checksum", "GL102"),
        ("slower and slower", "GL207"),
    ],
)
def test_what_people_type(words, code):
    assert code in about(words)


@pytest.mark.parametrize("words", ["", "the", "quux", "loss quux"])
def test_what_no_rule_is_about(words):
    assert about(words) == []


def test_the_likeliest_comes_first_and_names_count_too():
    assert about("NaN") == ["GL301", "GL401", "GL614", "GL502", "GL503", "GL306"]
