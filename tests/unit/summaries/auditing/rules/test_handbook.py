"""Every rule has its page, and the page's example is a run in which the rule finds something."""

import re

import pytest

from summaries import audit
from summaries.auditing.config import Config
from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import page

SECTIONS = ["What to do", "Where the threshold comes from", "Example"]
OPTIONAL = {"What it cannot tell", "Thresholds"}


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
@pytest.mark.parametrize("code", RULES)
def test_the_example(code, tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", page(code), re.DOTALL)
    names = {"logdir": str(tmp_path / "run"), "baseline": str(tmp_path / "baseline")}
    (tmp_path / "run").mkdir()
    exec(compile(block, f"{code}.md", "exec"), names)  # noqa: S102 - our own
    baseline = names["baseline"] if (tmp_path / "baseline").exists() else None
    report = audit(names["logdir"], Config(), baseline=baseline)
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
