"""A copy of the repository in which lines are changed, and its tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOO_LONG = "they take too long"
_PASSED = (0, 5)
"""pytest's exit statuses: all passed; there were none, as in a module without examples."""


def copy_of_repository(tree: Path) -> Path:
    ignored = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "runs")
    shutil.copytree(ROOT, tree, ignore=ignored)
    return tree


def run_tests(tree: Path, tests: list[str], limit: float | None = None) -> str | None:
    """What pytest says where these tests fail, or take longer than so many seconds; None where they pass."""
    if not tests:
        return None
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command, cwd=tree, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            if process.wait(limit) in _PASSED:
                return None
        except subprocess.TimeoutExpired:
            return TOO_LONG
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)  # with what the tests have started
                process.wait()
        output.seek(0)
        return output.read()
