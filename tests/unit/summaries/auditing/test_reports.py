"""A report in Python: its repr, its page and its JSON, as text and in files."""

import json
import pickle
import subprocess
import sys

import pytest
from audits.reports import several, small

from summaries import Report, SummaryWriter, audit


def test_reprs_are_short():
    report = several()
    assert repr(report) == "Report(5 runs, 2 errors, 3 warnings, 3 notes)"
    assert repr(Report(())) == "Report(0 runs, nothing found)"
    worst = report.runs[-1]
    assert repr(worst) == "RunReport('sweep/lr=0.1', 2 errors, 2 warnings, 2 notes, 1000 points, steps 0 to 3999)"
    assert repr(small().findings[0]) == (
        "Finding(GL301 non-finite-loss, ERROR, run='lenet/a b', tag='train/loss', steps=(71, 99): 'the loss is nan')"
    )
    assert repr(small().findings[1]) == "Finding(GL107 no-events, INFO, run='lenet/a b': 'nothing was logged')"
    assert repr(small().runs[0].curves[0]) == "Curve('train/loss', role='loss', 4 of 4 points)"
    assert max(len(repr(one)) for one in (worst.curves[0], *report.runs, *report.findings)) < 400


def test_to_html(tmp_path):
    report = several()
    page = report.to_html()
    assert page.startswith("<!doctype html>")
    assert 'id="rule-GL301"' in page  # the pages of the rules are there, of those that found something
    assert report.to_html(tmp_path / "new" / "audit.html") is None
    assert (tmp_path / "new" / "audit.html").read_text(encoding="utf-8") == page
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["audit.html"]


def test_to_json(tmp_path):
    report = small()
    assert json.loads(report.to_json())["findings"][0]["code"] == "GL301"
    assert report.to_json(str(tmp_path / "audit.json")) is None
    assert (tmp_path / "audit.json").read_text(encoding="utf-8") == report.to_json()


def test_a_file_that_cannot_be_written_leaves_the_one_that_was_there(tmp_path):
    (tmp_path / "file").write_text("there")
    with pytest.raises(OSError, match="file"):
        several().to_html(tmp_path / "file" / "audit.html")
    assert (tmp_path / "file").read_text() == "there"


def test_a_report_is_data():
    report = pickle.loads(pickle.dumps(several()))  # noqa: S301 - made above
    assert repr(report) == repr(several())
    assert report.to_json() == several().to_json()


def test_the_baseline_is_on_the_page(tmp_path):
    for name in ("base", "run"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(10):
                writer.add_scalar("train/loss", 1 / (1 + step), step)
    report = audit(tmp_path / "run", baseline=tmp_path / "base")
    assert report.baseline == str(tmp_path / "base")
    assert f'"baseline":"{tmp_path / "base"}"' in report.to_html()
    assert audit(tmp_path / "run").baseline == ""


def test_the_curves_of_an_audit_in_python_are_as_fine_as_the_commands(tmp_path):
    """All points of up to 2,000 stay."""
    with SummaryWriter(tmp_path / "run") as writer:
        for step in range(2000):
            writer.add_scalar("train/loss", 1 / (1 + step), step)
    (run,) = audit(tmp_path).runs
    assert len(run.curves[0].step) == 2000
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "summaries", "audit", str(tmp_path), "--format", "html", "--output", str(page)]
    subprocess.run(command, check=True, capture_output=True)
    assert page.read_text(encoding="utf-8") == audit(tmp_path).to_html()
