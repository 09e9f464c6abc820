"""The build hook: a wheel carries every system's compiled code and a bill of its parts, an editable install its own's.

What is up to date is not built again, and then needs no compiler: `make` builds once for all of its environments.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from summaries.native.building import stale  # noqa: E402 - it is not installed yet
from vendor.sbom import bill  # noqa: E402


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
        if version != "editable":
            self._bill = TemporaryDirectory()
            path = Path(self._bill.name, "gradledger.cdx.json")
            path.write_text(bill(), encoding="utf-8")
            build_data["sbom_files"].append(str(path))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The bill is in the wheel by now."""
        if version != "editable":
            self._bill.cleanup()
