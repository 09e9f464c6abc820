"""Each Python block of README runs alone, beside the run that the first block writes."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from documentation import release
from documentation.readme import BLOCKS, missing, run
from helpers import ROOT

from summaries.auditing.rules.handbook import index


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """What the first block leaves in its directory."""
    directory = tmp_path_factory.mktemp("first")
    run(BLOCKS[0], directory)
    return directory


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs_alone(tmp_path, first, number):
    block = BLOCKS[number]
    if "s3://" in block:
        pytest.skip("needs a bucket: `make stores` runs it (tests/stores/test_readme.py)")
    if names := missing(block):
        pytest.skip(f"needs {', '.join(names)}: `make frameworks` runs it")
    if number:  # the first one has run
        shutil.copytree(first, tmp_path, dirs_exist_ok=True)
        run(block, tmp_path)


def test_the_curve_is_what_the_terminal_shows(first):
    (curve,) = re.findall(r"```text\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    shown = subprocess.run(
        [sys.executable, "-m", "gradledger", "show", "runs/first"],
        cwd=first,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "72", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
    )
    assert shown.stdout.decode().splitlines()[-len(curve.splitlines()) :] == curve.splitlines()


def test_the_number_of_rules():
    assert f" {len(index())} rules " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "word", ["import torch", "import optax", "minimize(", "to_pandas(", "audit(", "s3://", "Saver("]
)
def test_there_is_a_block_for_every_kind_of_user(word):
    assert any(word in block for block in BLOCKS)


def test_the_pages_by_which_people_come_agree_on_whether_it_is_released():
    assert len({release.notes_in(page) for page in release.NOTES}) == 1


@pytest.mark.parametrize("address", release.WAITING)
def test_which_pages_lead_to_what_the_release_makes(address):
    pages = [ROOT / "README.md", ROOT / "pyproject.toml", *ROOT.glob("docs/**/*.md"), *ROOT.glob("summaries/**/*.md")]
    leading = {path.relative_to(ROOT).as_posix() for path in pages if address in path.read_text(encoding="utf-8")}
    assert leading == release.WAITING[address]
