"""Rows of CSV read back as they were, whatever is in their texts."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.tools.formats.csv_file import csv_rows

texts = st.text(st.one_of(st.sampled_from('\r\n",; '), st.characters(codec="utf-8", exclude_characters="\x00")))


@given(st.lists(st.tuples(texts, texts, st.lists(st.integers(), max_size=3))))
def test_read_back(pieces):
    file = io.StringIO(newline="")
    write = csv_rows(file)
    rows = [[(run, tag, number, None) for number in numbers] for run, tag, numbers in pieces]
    for piece in rows:
        write(piece)
    found = [tuple(row) for row in csv.reader(io.StringIO(file.getvalue(), newline=""))]
    assert found == [(run, tag, str(number), "") for piece in rows for run, tag, number, _ in piece]


@pytest.mark.parametrize("text", ["loss", "a b/c", "größe"])
def test_no_more_is_quoted_than_has_to_be(text):
    file = io.StringIO(newline="")
    csv_rows(file)([(text, 1.5), (text, 2)])
    assert file.getvalue() == f"{text},1.5\n{text},2\n"
