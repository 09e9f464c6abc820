"""The search by symptom: its codes are those of rules, and each rule can be found."""

import re

import pytest
from documented_pages import DOCS

from summaries.auditing.rules import RULES

ROWS = re.findall(r"^\| (.*?) \| (GL.*?) \|$", (DOCS / "rules/symptoms.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_codes_are_those_of_rules():
    codes = [code for _, cell in ROWS for code in cell.split(", ")]
    assert set(codes) == set(RULES)


def test_no_symptom_stands_twice():
    symptoms = [symptom for symptom, _ in ROWS]
    assert len(symptoms) == len(set(symptoms))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("loss NaN", "GL301"),
        ("loss flat", "GL303"),
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
    found = [cell for symptom, cell in ROWS if all(word.lower() in symptom.lower() for word in words.split())]
    assert any(cell.startswith(code) for cell in found)
