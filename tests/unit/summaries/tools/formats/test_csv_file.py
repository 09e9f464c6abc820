"""Rows of CSV read back as they were, whatever is in their texts."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from summaries.tools.formats import csv_file
from summaries.tools.formats.csv_file import csv_rows, read_csv
from summaries.tools.formats.points import LeftOut

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


CELLS = st.sampled_from(
    ["1", "2.0", "-3", "nan", "1e400", "", "NA", "x", '"4"', '"a,b"', " 5", "1,2", '"', "6\n", "7\r"]
)
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\n\n", ""])


def told(path):
    """All that is read of a file, points and what is left out; or the error, before which more or less may be read."""
    points, left_out = [], LeftOut()
    try:
        for batch in read_csv(str(path), left_out):
            names = [batch.tags[number] for number in batch.tag.tolist()]
            columns = (column.tolist() for column in (batch.step, batch.wall_time, batch.value))
            points += [(batch.run, name, *map(repr, row)) for name, *row in zip(names, *columns, strict=True)]
    except ValueError as error:
        return str(error)
    return points, left_out


@given(
    st.sampled_from(["step,loss", "step,loss,acc", "run,tag,step,value", "step"]),
    st.lists(st.tuples(st.lists(CELLS, min_size=1, max_size=4), ENDS), max_size=12),
    st.sampled_from([2, 8, 1 << 17]),
    st.sampled_from([1, 9, 1 << 17]),
    st.sampled_from([4, 1 << 17]),
)
@example("run,tag,step,value", [(["1", "1", "nan", "1"], "\n"), *[(["1"], "\n")] * 2], 8, 1, 1 << 17)  # both are wrong
def test_lines_that_are_split_give_what_the_csv_module_gives(tmp_path_factory, header, rows, cells, characters, limit):
    path = tmp_path_factory.getbasetemp() / "split.csv"
    path.write_text(f"{header}\n" + "".join(",".join(row) + end for row, end in rows), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_file, "_CELLS", cells)
        patch.setattr(csv_file, "_CHARACTERS", characters)
        patch.setattr(csv, "field_size_limit", lambda: limit)  # as it is asked; the module's own stays
        split = told(path)
        patch.setattr(csv_file, "_split", lambda *_: None)
        assert told(path) == split


@pytest.mark.parametrize("long", ["12345\n", "1\n12345\n", "12345", "1\n2\n34567\n8\n"])
def test_lines_that_the_csv_module_may_refuse_are_left_to_it(long):
    assert csv_file._has_long_line(long, 4)
    assert not csv_file._has_long_line(long, 5)
