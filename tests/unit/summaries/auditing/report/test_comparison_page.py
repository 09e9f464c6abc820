"""The page of a comparison: one file, whose data cannot become markup."""

import json
import re

import pytest
from javascript.page_types import keys

from summaries import SummaryWriter, compare
from summaries.auditing.report.comparison_page import html

HOSTILE = "lr=<img src=x onerror=alert(1)>"


@pytest.fixture
def page(tmp_path):
    for name in (HOSTILE, "lr=2"):
        with SummaryWriter(tmp_path / name.replace("/", "")) as writer:
            for step in range(500):
                writer.add_scalar("loss", 1 / (1 + step), step)
    return html(compare(tmp_path))


def test_names_are_data(page):
    assert "<img" not in page
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert {run["run"] for run in data["runs"]} == {HOSTILE, "lr=2"}
    assert [len(curve["step"]) for curve in data["curves"]] == [200, 200]


def test_nothing_is_requested(page):
    assert "default-src 'none'" in page.replace("&#x27;", "'")
    assert not re.search(r'(?:src|href)="(?!data:|#)', page)


def test_the_types_of_the_page_have_these_keys(page):
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert keys("types.d.ts", "Comparison") == set(data) - {"version", "tool"}
    assert keys("types.d.ts", "Group") == set(data["groups"][0])
    assert keys("types.d.ts", "Interval") == set(data["groups"][0]["final"]) - {"runs"}
    assert keys("types.d.ts", "ComparedRun") == set(data["runs"][0])
