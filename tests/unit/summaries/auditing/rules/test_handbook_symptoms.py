"""The search by symptom: its codes are those of rules, and each rule can be found."""

import re

import pytest
from helpers import ROOT

from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import _ENDING, _SMALL_WORDS, about, symptoms

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
        ("why did my loss spike", "GL302"),
        ("loss oscillates", "GL302"),
        ("forgot zero_grad", "GL402"),
        ("zero_grad", "GL402"),
        ("loss stops improving", "GL308"),
        ("stops improving", "GL308"),
        ("fp16", "GL401"),
        ("my model is overfitting", "GL305"),
        ("loss is nan", "GL301"),
        ("NaN loss after 100 steps", "GL301"),
        ("loss becomes inf", "GL301"),
        ("loss not decreasing", "GL303"),
        ("my loss is stuck", "GL303"),
        ("loss doesn't go down", "GL303"),
        ("my network does not learn anything", "GL303"),
        ("training diverged", "GL304"),
        ("loss blows up", "GL304"),
        ("loss goes up", "GL304"),
        ("exploding gradients", "GL402"),
        ("gradient explosion", "GL402"),
        ("vanishing gradients", "GL403"),
        ("dead relu", "GL406"),
        ("learning rate too high", "GL504"),
        ("val loss increases", "GL305"),
        ("test accuracy gets worse", "GL305"),
        ("accuracy doesn't change", "GL307"),
        ("training is slow", "GL207"),
        ("slower and slower", "GL207"),
        ("job hangs", "GL204"),
        ("gpu waiting between steps", "GL204"),
        ("tensorboard shows nothing", "GL107"),
        ("tensorboard only shows half the curve", "GL102"),
        ("corrupted event file", "GL104"),
        ("DataLossError", "GL102"),
        ("checksum", "GL102"),
        ("file truncated after crash", "GL101"),
        ("two runs in the same directory", "GL106"),
        ("resumed run overlaps", "GL201"),
        ("everything at step 0", "GL202"),
        ("missing steps", "GL205"),
        ("ranks out of sync", "GL611"),
        ("DDP loss differs between ranks", "GL615"),
        ("one gpu slower", "GL613"),
        ("mixed precision overflow", "GL401"),
        ("loss scale keeps dropping", "GL401"),
        ("clipping does nothing", "GL405"),
        ("every gradient is clipped", "GL404"),
        ("entropy goes to zero", "GL506"),
        ("loss worse than last run", "GL601"),
    ],
)
def test_what_people_type(words, code):
    assert code in about(words)[:4]


@pytest.mark.parametrize(("words", "code"), [("overfitting", "GL401"), ("my loss is stuck", "GL302")])
def test_what_only_looks_alike(words, code):
    assert code not in about(words)


def test_the_documentation_searches_with_the_same_words_and_endings():
    script = ROOT.joinpath("docs/_static/symptoms.js").read_text(encoding="utf-8")
    (small,), (ending,) = re.findall(r"`([^`]*)`\n    .trim", script), re.findall(r"ENDING = /(.*)/;", script)
    assert (frozenset(small.split()), ending) == (_SMALL_WORDS, _ENDING.pattern)


@pytest.mark.parametrize("words", ["", "the", "quux", "loss quux", "the data is not shuffled"])
def test_what_no_rule_is_about(words):
    assert about(words) == []


def test_the_likeliest_comes_first_and_names_count_too():
    assert about("NaN") == ["GL301", "GL401", "GL614", "GL502", "GL503", "GL306"]
