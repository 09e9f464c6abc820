"""The pages of the rules on the loop itself: their mistake is told by this rule, and their mend by none."""

import itertools
import re
import subprocess
import sys

import pytest
from helpers import ROOT

from summaries import audit
from summaries.auditing.rules import RULES
from summaries.auditing.rules.handbook import page

torch = pytest.importorskip("torch", reason="torch is not installed: make frameworks")
pytestmark = pytest.mark.filterwarnings("ignore")

CODES = [code for code in RULES if code.startswith("GL7")]
STARTS_PROCESSES = {"GL743", "GL751"}


def found_by(code, section, directory, monkeypatch):
    """The codes of this family that the audit finds after the snippet of a section was run here."""
    monkeypatch.chdir(directory)
    (block,) = re.findall(rf"^## {section}\n\n```python\n(.*?)```", page(code), re.DOTALL | re.MULTILINE)
    if code in STARTS_PROCESSES:
        (directory / "snippet.py").write_text(block, encoding="utf-8")
        subprocess.run([sys.executable, "-W", "ignore", "snippet.py"], check=True, env={"PYTHONPATH": str(ROOT)})
    else:
        from optim.wiring import checks

        monkeypatch.setattr(checks, "_loops", itertools.count())
        torch.manual_seed(0)
        exec(compile(block, f"{code}.md", "exec"), {})  # noqa: S102 - our own
    return [finding.code for finding in audit(f"runs/{code}").findings if finding.code.startswith("GL7")]


@pytest.mark.parametrize("code", CODES)
def test_the_mistake_is_found(code, tmp_path, monkeypatch):
    assert found_by(code, "The mistake", tmp_path, monkeypatch) == [code]


@pytest.mark.parametrize("code", CODES)
def test_the_mend_is_one(code, tmp_path, monkeypatch):
    assert found_by(code, "The mend", tmp_path, monkeypatch) == []
