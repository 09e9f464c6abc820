"""Collects what the tests find and writes the page of it, if --page says where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

RECORDED = ("row", "client")

_found: list[tuple[str, object]] = []


def pytest_addoption(parser: pytest.Parser) -> None:
    """--page FILE: after a run without a failure, the file is written; if it was another before, the run fails."""
    parser.addoption("--page", type=Path)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Collect, in the process that reports, what a test recorded in whatever process it ran."""
    if report.when == "call" and report.passed:
        _found.extend((name, found) for name, found in report.user_properties if name in RECORDED)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the page."""
    page = session.config.getoption("page")
    if page is None or session.testsfailed or hasattr(session.config, "workerinput"):
        return
    from conformance.page import render

    before = page.read_text(encoding="utf-8") if page.exists() else ""
    page.parent.mkdir(exist_ok=True)
    page.write_text(render(_found), encoding="utf-8")
    if page.read_text(encoding="utf-8") != before:
        print(f"\n{page} was not what this run gives. It is now: look at it and commit it.")
        session.exitstatus = 1
