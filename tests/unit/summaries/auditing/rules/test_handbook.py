"""Every rule has its page, and the page's example is a run in which the rule finds something."""

import re
from pathlib import Path

import pytest

from summaries import audit
from summaries.auditing.config import Config
from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import page

SECTIONS = ["What you see", "What to do", "Where the threshold comes from", "Example"]
OPTIONAL = {"The mistake", "The mend", "What it cannot tell", "Thresholds"}


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
@pytest.mark.parametrize("code", RULES)
def test_the_example_runs_as_it_stands(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^## Example\n.*?```python\n(.*?)```", page(code), re.DOTALL | re.MULTILINE)
    exec(compile(block, f"{code}.md", "exec"), {})  # noqa: S102 - our own
    report = audit(f"runs/{code}", Config(), baseline=f"good/{code}" if Path("good").exists() else None)
    assert code in {finding.code for finding in report.findings}


@pytest.mark.parametrize("code", RULES)
def test_the_sections(code):
    text = page(code)
    assert text.startswith(f"# {code}: ")
    headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert [heading for heading in headings if heading not in OPTIONAL] == SECTIONS
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("code", RULES)
def test_every_threshold_is_explained(code):
    assert [name for name in RULES[code].thresholds if name != "min_points" and f"`{name}`" not in page(code)] == []
