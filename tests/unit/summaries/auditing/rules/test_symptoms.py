"""The search by symptom: its codes are those of rules, and each rule can be found."""

import pytest

from summaries.auditing.rules import RULES
from summaries.auditing.rules.symptoms import SYMPTOMS, about

ROWS = [row for symptoms in SYMPTOMS.values() for row in symptoms.items()]


def test_the_codes_are_those_of_rules():
    assert {code for _, codes in ROWS for code in codes.split(", ")} == set(RULES)


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
