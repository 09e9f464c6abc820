"""CSV: long and wide tables, and what they may be like."""

import numpy as np
import pytest

from summaries.tools.formats import csv_file
from summaries.tools.formats.csv_file import read_csv
from summaries.tools.formats.points import LeftOut
from summaries.tools.formats.tables import TableReader


def read(tmp_path, text, encoding="utf-8"):
    """(run, tag, step, time, value) of each point, and what was left out."""
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    left_out, rows = LeftOut(), []
    for one in read_csv(str(path), left_out):
        columns = ([one.tags[tag] for tag in one.tag], one.step, one.wall_time, one.value)
        rows += zip([one.run] * len(one.step), *map(list, columns), strict=True)
    return rows, left_out


NAN = np.nan


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run,tag,step,wall_time,value\na,x,1,2.5,3\nb,x,1,,nan\na,y,2,3.5,\n",
         [("a", "x", 1, 2.5, 3.0), ("a", "y", 2, 3.5, NAN), ("b", "x", 1, NAN, NAN)]),
        ("value,TAG, Step \n1,x,7\n", [(".", "x", 7, NAN, 1.0)]),
        ("step,x,y\n1,2,\n2,nan,3\n", [(".", "x", 1, NAN, 2.0), (".", "x", 2, NAN, NAN), (".", "y", 2, NAN, 3.0)]),
        ("Wall time,Step,Value\n5.5,1,0.25\n", [(".", "Value", 1, 5.5, 0.25)]),  # as TensorBoard downloads it
        ("_step,_timestamp,run,loss,tag\n1,9,a,2,3\n", [("a", "loss", 1, 9.0, 2.0), ("a", "tag", 1, 9.0, 3.0)]),
        ('step,tag,value\r\n1.0,"a, ""b""\nc",True\r\n\r\n', [(".", 'a, "b"\nc', 1, NAN, 1.0)]),
        ("\ufeffstep,x\n1,2\n", [(".", "x", 1, NAN, 2.0)]),
        (b"step,\xff\n1,2\n", [(".", "\\xff", 1, NAN, 2.0)]),
        ("step,tag,value\n", []),
        ("step\n1\n", []),
    ],
)  # fmt: skip
def test_tables(tmp_path, text, expected):
    rows, left_out = read(tmp_path, text)
    np.testing.assert_equal(rows, expected)
    assert not left_out


def test_what_is_left_out(tmp_path):
    rows, left_out = read(tmp_path, "tag,step,value,host\nx,1,a,h\nx,2,5,h\ny,3,b,h\nx,4,c,h\n")
    assert [row[2] for row in rows] == [2]
    assert left_out == {
        "column 'host'": 1, "values of 'x' that are no numbers": 2, "values of 'y' that are no numbers": 1,
    }  # fmt: skip
    rows, left_out = read(tmp_path, "run,step,x,name\na,1,2,n\nb,2,,m\n")
    assert [row[:3] for row in rows] == [("a", "x", 1)]
    assert left_out == {"values of 'name' that are no numbers": 2}
    rows, left_out = read(tmp_path, "step,x,wall_time\n1,2,2024-01-01\n2,3,7\n3,4,now\n4,5,\n")
    np.testing.assert_equal([row[3] for row in rows], [NAN, 7.0, NAN, NAN])
    assert left_out == {"times that are not seconds since the epoch": 2}


@pytest.mark.parametrize("name", ["", " ", "Unnamed: 0"])
def test_the_numbers_of_rows_are_no_tag(tmp_path, name):  # as pandas writes them
    rows, left_out = read(tmp_path, f"{name},step,x,{name}\n0,1,2,\n1,2,3,\n")
    assert [row[1:3] for row in rows] == [("x", 1), ("x", 2)]
    assert left_out == {f"column {name!r}": 2}


@pytest.mark.parametrize("cells", [1, 5, 12, 1 << 17])
def test_many_rows(tmp_path, monkeypatch, cells):
    monkeypatch.setattr(csv_file, "_CELLS", cells)
    lines = "".join(f"{'ab'[i % 2]},t{i % 3},{i},{i}\n" for i in range(20))
    rows, _ = read(tmp_path, "run,tag,step,value\n" + lines)
    assert sorted((step, run, tag, value) for run, tag, step, _, value in rows) == [
        (i, "ab"[i % 2], f"t{i % 3}", float(i)) for i in range(20)
    ]
    for name in "ab":
        assert [row[2] for row in rows if row[0] == name] == list(range("ab".index(name), 20, 2))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there must be a column 'step', and either 'tag' and 'value' or one for each tag, got none"),
        ("a,b\n1,2\n", "there must be a column 'step', and either 'tag' and 'value' or one for each tag, got 'a', 'b'"),
        ("step,x,y,x\n1,2,3,4\n", "each column must have a name of its own, got 'x' twice"),
        ("step,x\n1,2\n3\n4,5\n", "row 2: there must be 2 cells, got 1"),
        ("step,x\n1,2\n1.5,2\n", "row 2: a step must be an integer of 64 bits, got '1.5'"),
        ("run,step,x\n,1,2\n.,1,2\n", "one of the runs '' and '.' must have another name, got both"),
        ('step,x\n1,"' + "x" * 200_000 + '"\n', "line 1: not CSV: field larger than field limit (131072)"),
    ],
)
def test_what_is_no_table(tmp_path, text, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        read(tmp_path, text)
    assert (
        str(caught.value)
        .replace(": ", ", ", 1 if message.startswith(("there", "each", "one")) else 0)
        .replace("line 2", "line 1")
        == f"{tmp_path / 'x.csv'}, {message}"
    )


def test_the_time_for_names_of_columns_grows_with_their_number():
    class Name(str):
        """A name that counts how often it is compared with others."""

        __slots__ = ()
        compared = 0
        __hash__ = str.__hash__

        def __eq__(self, other):
            Name.compared += 1
            return str.__eq__(self, other)

    count = 1000
    TableReader(["step", *(Name(f"c{i}") for i in range(count))], "x.csv", LeftOut())
    assert Name.compared < 10 * count


def test_the_epoch_is_the_step_in_any_case_of_its_letters():
    """As the step is."""
    (batch,) = TableReader(["Epoch", "Loss"], "x.csv", LeftOut()).points([["1", "2"], ["0.5", "0.25"]], 1)
    assert (list(batch.tags), batch.step.tolist()) == (["Loss"], [1, 2])
