"""Every rule is found, by a code and a name of its own."""

import importlib
import pkgutil
from collections import Counter
from pathlib import Path

import pytest

from summaries.auditing import rules
from summaries.auditing.findings import Severity
from summaries.auditing.rules.registry import RULES
from summaries.auditing.rules.rule import Ruleset


def test_every_module_of_rules_is_registered():
    made = []
    for module in pkgutil.walk_packages(rules.__path__, f"{rules.__name__}."):
        ruleset = getattr(importlib.import_module(module.name), "RULES", None)
        if isinstance(ruleset, Ruleset):
            made += ruleset.items()
    assert sorted(made) == list(RULES.items()), "a module of rules belongs into registry.py; a code is one rule's"


def test_names_are_unique():
    assert max(Counter(rule.name for rule in RULES.values()).values()) == 1


def test_every_page_is_a_rule_s():
    pages = Path(rules.__file__).with_name("pages").glob("*.md")
    assert {page.stem for page in pages} == set(RULES)


def test_a_code_is_one_rule_s():
    family = Ruleset()
    family.add("GL001", "first", Severity.INFO)(list)
    with pytest.raises(ValueError, match=r"^a rule needs a code of its own, and GL001 is first$"):
        family.add("GL001", "second", Severity.INFO)(list)
