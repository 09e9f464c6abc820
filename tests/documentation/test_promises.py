"""What is promised of what was written: in the same words on all pages, with tests that are there."""

import re

from helpers import ROOT

SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
WRITERS_PAGE = (ROOT / "docs/how-to/log.md").read_text(encoding="utf-8")
FIRST = "| | writer | writer, `fsync=True` |"


def table(page, columns):
    """The first columns of the table of promises."""
    rows = page[page.index(FIRST) :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in row.strip("|").split("|")[:columns]] for row in rows if "---" not in row]


def test_the_writer_s_page_says_the_same():
    assert table(WRITERS_PAGE, 4) == table(SECURITY, 3)


def test_no_cell_is_empty():
    _, *rows = table(SECURITY, 9)
    assert len(rows) >= 8
    assert all(len(row) == 5 and all(row) for row in rows)


def test_the_tests_that_it_names_are_there():
    named = re.findall(r"`((?:tests/|test_)[\w/.]+)`", SECURITY)
    assert len(named) > 15
    assert [name for name in named if not (list(ROOT.glob(name)) or list(ROOT.glob(f"tests/**/{name}")))] == []
