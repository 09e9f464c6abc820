"""The links of the site that `make docs` has built lead somewhere, and the code that builds it does what it says."""

import doctest
import importlib
import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from documentation.pages import DOCS

from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import symptoms


@pytest.fixture
def site(request):
    """The directory of the site."""
    if not (directory := request.config.getoption("--site")):
        pytest.skip("--site is not given: make docs")
    return Path(directory).resolve()


def test_links_lead_somewhere(site):
    anchors, links = {}, []
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        anchors[path] = set(re.findall(r' id="([^"]*)"', text))
        links += [(path, urlsplit(unescape(link))) for link in set(re.findall(r'(?:href|src)="([^"]*)"', text))]
    wrong = [(path.name, link.geturl()) for path, link in links if not leads_somewhere(path, link, anchors)]
    assert len(links) > 1000
    assert wrong == []


def leads_somewhere(page, link, anchors):
    """Whether a link of a page is to another site, or to a file that is there, with its anchor."""
    if link.scheme or link.netloc:
        return True
    target = Path(page.parent, unquote(link.path)).resolve() if link.path else page
    fragment = unquote(link.fragment)
    return target.exists() and (not fragment or target not in anchors or fragment in anchors[target])


def test_every_rule_and_every_command_has_its_page(site):
    assert {path.stem for path in (site / "rules").glob("GL*.html")} == set(RULES)
    commands = {path.stem for path in (DOCS / "commands").glob("*.md")}
    assert {path.stem for path in (site / "commands").glob("*.html")} == commands


def test_options_keep_their_two_dashes(site):
    assert "what --cache keeps" in (site / "commands/index.html").read_text(encoding="utf-8")


def test_the_notebook_can_be_downloaded(site):
    page = site / "tutorials/notebook.html"
    (link,) = re.findall(r'href="([^"]*\.ipynb)"', page.read_text(encoding="utf-8"))
    assert Path(page.parent, link).resolve().read_bytes() == Path(DOCS, "tutorials/notebook.ipynb").read_bytes()


def test_the_thresholds_of_a_rule_are_on_its_page(site):
    text = re.sub(r"<[^>]*>", "", (site / "rules/GL404.html").read_text(encoding="utf-8"))
    assert "fraction = 0.9  # a number from 0 to 1" in unescape(text)


def test_every_symptom_links_to_its_rules(site):
    page = (site / "rules/symptoms.html").read_text(encoding="utf-8")
    rows = sum(map(len, symptoms().values()))
    assert len(re.findall(r"<tr[^>]*>\s*<td>.*?</td>\s*<td>.*?href=\"GL\d+\.html", page, re.DOTALL)) == rows
    assert page.index('<input id="symptom"') < page.index("<h2>")


@pytest.mark.parametrize("name", ["docstrings", "notebooks", "rule_pages"])
def test_what_extensions_say_of_themselves(name, monkeypatch):
    pytest.importorskip("sphinx", reason="the group `docs` is not installed")
    monkeypatch.syspath_prepend(DOCS / "_ext")
    results = doctest.testmod(importlib.import_module(name))
    assert results.attempted > 0
    assert results.failed == 0
