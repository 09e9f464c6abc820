"""Each console block of docs/commands is run, in the order of its page, and prints what the page shows."""

import sys

import pytest
from documentation.pages import DOCS, blocks, commands, prepare, run_page

from summaries.cli.program import command_names

PAGES = sorted(page for page in (DOCS / "commands").glob("*.md") if page.stem != "index")


@pytest.mark.skipif(sys.platform == "win32", reason="the pages show names of files as other systems write them")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_shows(page, tmp_path, monkeypatch):
    shown = [command for block in blocks(page) for command, _ in commands(block.text)]
    assert any(command.startswith(f"gradledger {page.stem}") for command in shown)
    prepare(monkeypatch, tmp_path)
    run_page(page)


def test_every_command_has_a_page():
    names = {page.stem for page in PAGES}
    assert names == set(command_names()), "docs/commands has a page for each command, NAME.md"
