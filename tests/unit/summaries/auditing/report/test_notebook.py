"""A report in a notebook: the table, worst first, and the page in a frame; elsewhere, the page in a file."""

import sys
import types
from html import unescape
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest
from audits.reports import finding, hostile, run, several
from browser.html_seen import Seen

from summaries import Failure, Report, RunReport


def test_the_table():
    seen = Seen(several()._repr_html_())
    runs = seen.rows[1:6]
    assert [row[0] for row in runs] == ["sweep/lr=0.1", "sweep/lr=0.01", "empty", "baseline", "sweep/lr=0.001"]
    assert runs[0][1:5] == ["2 errors, 2 warnings, 2 notes", "0 to 3,999", "1,000", "train/loss"]
    assert runs[2][1:5] == ["1 note", "", "1,000", ""]
    assert runs[3][1].startswith("nothing found")
    titles, *findings = seen.rows[6:]
    assert titles == ["rule", "run", "tag", "steps", "finding"]
    assert findings[0][0].startswith("GL301 ")
    assert seen.lines[0] == "5 runs, 2 errors, 3 warnings, 3 notes"
    assert seen.is_ours()


def test_it_is_bounded():
    many = [finding("GL301", "non-finite-loss", "ERROR", "a", "t" * 900, (0, 1), "m" * 9000) for _ in range(900)]
    runs = tuple(run(f"{number} {'n' * 900}", many) for number in range(300))
    failed = RunReport("lost", (), (), failures=tuple(Failure("lost", f"path {i}", "why") for i in range(9)))
    text = Report((*runs, failed))._repr_html_()
    seen = Seen(text)
    assert len(text) < 60_000
    assert len(seen.rows) == 1 + 20 + 1 + 20
    assert seen.rows[1][:2] == ["lost", "not all audited"]
    assert seen.lines[1:3] == ["and 281 more runs", "and 269,980 more findings"]
    assert seen.lines[3:] == [*(f"not audited: lost: path {i}: why" for i in range(5)), "and 4 more parts not audited"]


def test_names_are_text():
    assert Seen(Report((hostile(),))._repr_html_()).is_ours()
    assert Seen(Report(())._repr_html_()).lines == ["0 runs, nothing found"]


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, in a shell that belongs to a kernel."""
    displayed = []
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display = types.SimpleNamespace(display=lambda data, raw: displayed.append((data, raw)))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    return displayed


def test_the_page_in_a_frame(shown):
    report = Report((*several().runs, hostile()))
    assert report.show(height=500) is None
    ((data, raw),) = shown
    assert raw
    assert data["text/plain"] == repr(report)
    before, page, after = data["text/html"].replace('srcdoc="', "\0").replace('"></iframe>', "\0").split("\0")
    assert unescape(page) == report.to_html()
    assert '"' not in page
    assert "<" not in page
    assert 'sandbox="allow-scripts"' in before  # an origin of its own: nothing on the page reaches the notebook
    assert "height:500px" in before
    assert after == ""


def without_ipython(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)


def with_a_terminals_ipython(monkeypatch):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = types.SimpleNamespace
    monkeypatch.setitem(sys.modules, "IPython", ipython)


def with_ipython_that_was_only_imported(monkeypatch):
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: None
    monkeypatch.setitem(sys.modules, "IPython", ipython)


@pytest.mark.parametrize("elsewhere", [without_ipython, with_a_terminals_ipython, with_ipython_that_was_only_imported])
def test_elsewhere_the_page_is_in_a_file(elsewhere, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    elsewhere(monkeypatch)
    several().show()
    start = "no notebook to show it in; the page is "
    printed = capsys.readouterr().out
    assert printed.startswith(f"{start}file://")
    path = Path(url2pathname(urlparse(printed.removeprefix(start).strip()).path))
    assert path.read_text(encoding="utf-8") == several().to_html()
    assert path.parent.parent == tmp_path


def test_a_height_that_is_none():
    with pytest.raises(ValueError, match=r"^height must be at least 1 pixel, got 0$"):
        several().show(0)
