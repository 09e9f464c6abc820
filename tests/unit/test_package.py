"""The package, as far as it can be looked at without building it; `make package` does the rest."""

import re
import tomllib
from itertools import chain

import pytest
from helpers import ROOT
from package import smoke

from summaries.cli.program import command_names
from summaries.version import VERSION

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PINS = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
REQUIREMENTS = sorted(
    {
        requirement
        for requirement in chain(
            PROJECT["project"]["dependencies"],
            *PROJECT["project"]["optional-dependencies"].values(),
            *PROJECT["dependency-groups"].values(),
        )
        if isinstance(requirement, str) and not requirement.startswith("gradledger[")
    }
)


def test_the_documentation_says_what_each_dependency_is_for():
    page = (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8")
    required = [re.split(r"[<>=]", requirement)[0] for requirement in PROJECT["project"]["dependencies"]]
    assert sorted(required) == sorted(re.findall(r"^\| `([\w-]+)` \| [\d.]+ \|", page, re.MULTILINE))


def test_the_commands_that_are_tried_are_there():
    """Others are asked for their help."""
    assert {line.split()[0] for line, _, _ in smoke.COMMANDS} <= set(command_names())


@pytest.mark.parametrize("requirement", REQUIREMENTS)
def test_whatever_we_install_is_pinned(requirement):
    """So that no new release turns the build red by itself: `make constraints` pins what is missing."""
    name, operator, version = re.match(r"([\w.-]+)(?:\[.*\])?([<>=]+)([\w.]+)", requirement).groups()
    pinned = PINS[name.lower().replace("_", "-")]
    assert operator != "==" or pinned == version


def test_no_address_in_the_readme_is_relative_on_the_package_index():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    for each in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        page = re.sub(each["pattern"], each["replacement"].replace("$HFPR_VERSION", VERSION), page)
    addresses = re.findall(r'\]\(([^)]*)\)|(?:src|srcset|href)="([^"]*)"', page)
    assert [address for address in map("".join, addresses) if not address.startswith(("https://", "#"))] == []
    assert f"https://raw.githubusercontent.com/gradledger/gradledger/v{VERSION}/examples/images/" in page


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert (
        (ROOT / "docs" / "releases" / f"{VERSION}.md")
        .read_text(encoding="utf-8")
        .startswith(f"# gradledger {VERSION}\n")
    )
