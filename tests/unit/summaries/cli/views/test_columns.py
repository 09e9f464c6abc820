"""Columns: what is left out, what is shortened, and what is aligned."""

import io

import pytest
from rich.console import Console

from summaries.cli.views.columns import TableColumn, lines_of, told_apart

NAMES = TableColumn("name", ["a/very/long/name/of/a/run/1", "b"], shrinks=12)
COLUMNS = [
    NAMES,
    TableColumn("count", ["1", "200"], right=True, rank=1),
    TableColumn("more", ["x", "y"], rank=2),
    TableColumn("none", ["", ""]),
    TableColumn("state", ["ok", "damaged"]),
]


def lines(width, columns=COLUMNS, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return [line.plain for line in lines_of(Console(file=file, width=width), columns)]


def test_a_pipe_has_all_of_it():
    assert lines(1 << 20) == [
        "name                         count  more  state",
        "a/very/long/name/of/a/run/1      1  x     ok",
        "b                              200  y     damaged",
    ]


@pytest.mark.parametrize(("width", "titles"), [(60, 4), (40, 4), (34, 4), (30, 3), (22, 2), (5, 2)])
def test_a_terminal_has_what_fits(width, titles):
    found = lines(width)
    assert len(found[0].split()) == titles
    assert max(map(len, found)) <= max(width, 17)  # a name keeps eight characters


def test_names_are_shortened_in_the_middle():
    assert lines(30)[1] == "a/very/…/run/1      1  ok"
    assert "…" not in lines(30, encoding="ascii")[1]


def test_wide_characters_are_aligned():
    found = lines(80, [TableColumn("a", ["損失", "x"]), TableColumn("b", ["1", "2"])])
    assert found == ["a     b", "損失  1", "x     2"]


def test_a_short_name_leaves_its_room_to_a_long_one():
    short, long = TableColumn("s", ["ab"], shrinks=8), TableColumn("l", ["c" * 50], shrinks=8)
    assert lines(30, [short, long])[1] == "ab  " + "c" * 13 + "…" + "c" * 12


APART = {
    "one": (["runs/a"], ["runs/a"]),
    "siblings": (["/x/y/a", "/x/y/b"], ["a", "b"]),
    "one above the other": (["runs", "runs/a"], ["runs", "runs/a"]),
    "nothing in common": (["a/b", "c/b"], ["a/b", "c/b"]),
    "twice the same": (["runs/a", "runs/a"], ["runs/a", "runs/a"]),
}


@pytest.mark.parametrize(("paths", "names"), APART.values(), ids=APART)
def test_told_apart(paths, names):
    assert told_apart(paths) == names
