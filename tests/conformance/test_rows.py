"""Each row is run with the original and with ours: the verdict is what the table says."""

import warnings

import pytest
from conformance import originals
from conformance.comparing import differences
from conformance.observing import observe
from conformance.tables import ROWS

from summaries import SummaryWriter

CASES = [
    pytest.param(row, library, id=f"{library}-{row.method}-{row.what}") for row in ROWS for library in row.verdicts
]


@pytest.mark.parametrize(("row", "library"), CASES)
def test_the_row_is_as_the_table_says(row, library, tmp_path, record_property):
    seen = {}
    for name, writer_class in {"ours": SummaryWriter, "original": originals.WRITERS[library]}.items():
        root = tmp_path / name
        root.mkdir()
        with originals.surroundings(library), warnings.catch_warnings(action="ignore"):
            seen[name] = observe(row, writer_class, root)
    word, found = verdict(**seen)
    want = row.verdicts[library]
    if word != want.word:
        pytest.fail("\n".join([f"is {word}, not {want.word}: {'; '.join(found)[:300]}", *found]), pytrace=False)
    record_property("row", (library, row.method, row.what, word))


def verdict(ours, original):
    """What ours does beside the original, and the lines that show it."""
    raised = {who: seen["raised"] for who, seen in (("ours", ours), ("the original", original)) if "raised" in seen}
    if raised:
        word = {("ours",): "refused", ("the original",): "accepted"}.get(tuple(raised), "same")
        return word, [f"{who} raised {error!r}" for who, error in raised.items()]
    found = differences(ours, original)
    return ("different" if found else "same"), found


def test_no_row_is_there_twice():
    names = [(row.method, row.what, library) for row in ROWS for library in row.verdicts]
    assert [name for name in names if names.count(name) > 1] == []


def test_what_is_not_the_same_has_a_reason():
    verdicts = [verdict for row in ROWS for verdict in row.verdicts.values()]
    assert all(bool(verdict.reason) == (verdict.word != "same") for verdict in verdicts)
