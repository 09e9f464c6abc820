"""The build hook: a wheel carries the compiled code of every system, an editable install builds that of its own.

What is up to date is not built again, and then needs no compiler: `make` builds once for all of its environments.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from summaries.native.building import stale  # noqa: E402 - it is not installed yet


class NativeHook(BuildHookInterface):  # type: ignore[type-arg,misc]
    """Builds the libraries before they are packed or installed."""

    def dependencies(self) -> list[str]:
        """What building needs. Which of the two is wanted is known only from how pip calls this."""
        is_editable = any("editable" in argument for argument in sys.argv)
        if not stale(everywhere=not is_editable):
            return []
        with open(ROOT / "pyproject.toml", "rb") as file:
            project = tomllib.load(file)
        return [*project["dependency-groups"]["build"], *project["project"]["dependencies"]]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build for this machine if the install is editable, else for all."""
        command = [sys.executable, "-m", "summaries.native.building", *([] if version == "editable" else ["--all"])]
        subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - this Python, this program
