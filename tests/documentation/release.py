"""What the pages say until the first release is on the package index, and where they already speak as if it were.

PYTHONPATH=tests python -m documentation.release    take out what waits: the switch that a release turns over
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NOTES = ("README.md", "docs/how-to/install.md", "docs/index.md")
"""The pages by which people come, which say that nothing is released yet."""

WAITING = {
    "gradledger.readthedocs.io": {"pyproject.toml"},
    "github.com/gradledger/gradledger/releases": set(),
}
"""Address → the files that lead there; none of these exists before the release."""

_NOTE = re.compile(r"<!-- until the release -->\n.*?<!-- end of what waits -->\n\n", re.DOTALL)


def notes_in(page: str) -> int:
    """How many passages of a page wait for the release."""
    return len(_NOTE.findall(ROOT.joinpath(page).read_text(encoding="utf-8")))


def take_out(page: str) -> None:
    """Take out what a page says until the release."""
    path = ROOT / page
    path.write_text(_NOTE.sub("", path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    for name in NOTES:
        take_out(name)
