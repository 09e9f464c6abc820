"""Suites that others wrote, run with ours in the original's place: python -m conformance.suites DIRECTORY.

tensorboardX's source distribution holds its tests; pip fetches it into DIRECTORY, which is no part of the repository.
PyTorch's and TensorFlow's wheels hold no tests of their writers, so the tables of rows stand for them.

A suite runs twice, with the original and with ours. What counts are the tests that make a writer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest

__all__ = ["fetch", "outcomes"]

REPORT = "CONFORMANCE_REPORT"


def fetch(directory: Path) -> Path:
    """Fetch the source of the installed tensorboardX once, unpack its tests, and return their folder."""
    release = version("tensorboardX")
    tests = directory / release / "tests"
    if not tests.exists():
        with tempfile.TemporaryDirectory(dir=directory) as scratch:  # what is interrupted is begun anew
            wanted = ["--no-deps", "--no-binary", ":all:", f"tensorboardX=={release}", "--dest", scratch]
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wanted], check=True)
            (archive,) = Path(scratch).glob("*.tar.gz")
            with tarfile.open(archive) as source:
                inside = [member for member in source.getmembers() if "/tests/" in member.name]
                for member in inside:
                    member.name = member.name.partition("/")[2]
                source.extractall(Path(scratch, release), inside, filter="data")
            Path(scratch, release).rename(directory / release)
    return tests


def outcomes(tests: Path, writer: str, report: Path) -> dict[str, tuple[str, bool]]:
    """Test → its outcome, and whether it made a writer."""
    paths = os.pathsep.join(map(str, (Path(__file__).parents[2], Path(__file__).parents[1])))
    environment = os.environ | {"PYTHONPATH": paths, REPORT: str(report), "CONFORMANCE_WRITER": writer}
    options = [
        "-q",
        "-p",
        "conformance.suites",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "--rootdir",
        tests.parent,
    ]
    files = sorted(path.name for pattern in ("test_*.py", "*_test.py") for path in tests.glob(pattern))
    command = [sys.executable, "-m", "pytest", *map(str, options), *(f"tests/{name}" for name in files)]
    done = subprocess.run(command, cwd=tests.parent, env=environment, capture_output=True, text=True, check=False)
    assert report.exists(), done.stdout + done.stderr
    return json.loads(report.read_text(encoding="utf-8"))


# The plugin, in the process that runs the suite.

_made: list[int] = [0]
_seen: dict[str, tuple[str, bool]] = {}


def _count(writer_class: type) -> None:
    """Count the writers of this class that are made."""
    real = writer_class.__init__

    def counting(self: object, *arguments: object, **options: object) -> None:
        _made[0] += 1
        real(self, *arguments, **options)

    writer_class.__init__ = counting


def pytest_configure() -> None:
    """Put ours in the original's place before a test can import it."""
    if REPORT not in os.environ:
        return
    import tensorboardX

    if os.environ["CONFORMANCE_WRITER"] == "ours":
        from conformance.clients.run import substitute

        substitute("tensorboardX")
    _count(tensorboardX.SummaryWriter)
    _count(tensorboardX.GlobalSummaryWriter)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> object:
    """Note whether a test makes a writer."""
    before = _made[0]
    done = yield
    outcome, _ = _seen.get(item.nodeid, ("passed", False))
    _seen[item.nodeid] = outcome, _made[0] > before
    return done


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test's outcome, which is that of its first phase that did not pass."""
    outcome, made = _seen.get(report.nodeid, ("passed", False))
    _seen[report.nodeid] = outcome if outcome != "passed" else report.outcome, made


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Files that cannot be imported, for want of a library, count as skipped."""
    if report.failed:
        _seen[report.nodeid] = "skipped", False


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    if REPORT in os.environ:
        Path(os.environ[REPORT]).write_text(json.dumps(_seen), encoding="utf-8")
