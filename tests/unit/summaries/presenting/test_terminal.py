"""What is printed on a terminal: names that fit and obey."""

import io

import pytest

from summaries.presenting import terminal

NAME = "sweep/learning_rate=0.001/seed=1"


@pytest.mark.parametrize("width", [-8, 0, 1, 2, 3, 7, 12, 30, 200])
@pytest.mark.parametrize("name", [NAME, "", "x" * 50, "日本語の名前/ランの" * 3, "a b  c", "/////", "e\u0301" * 20])
def test_broken(name, width):
    from rich.cells import cell_len

    lines = terminal.broken(name, width)
    assert "".join(lines).replace(" ", "") == name.replace(" ", "")
    assert max(map(cell_len, lines)) <= max(width, 2)


@pytest.mark.parametrize(("columns", "width"), [("", 1 << 20), ("0", 1 << 20), ("wide", 1 << 20), ("1", 1), ("90", 90)])
def test_the_width_of_a_file(monkeypatch, columns, width):
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.console(io.StringIO()).width == width


@pytest.mark.parametrize("width", range(2, 60))
def test_names_that_would_look_alike_keep_more_of_their_ends(width):
    from rich.cells import cell_len

    names = [f"transformer.h.{i}.attn.c_attn.weight" for i in range(3)] + ["score.weight", "score.weight"]
    short = terminal.shortened_apart(names, width)
    assert all(cell_len(name) <= width for name in short)
    if width >= len("….0.attn.c_attn.weight"):
        assert len(set(short)) == 4


@pytest.mark.parametrize("width", [2, 3, 10, 31, 32, 200])
@pytest.mark.parametrize("name", [NAME, "", "日本語の名前/ランの" * 3])
def test_a_name_is_shortened_in_the_middle(name, width):
    from rich.cells import cell_len

    short = terminal.shortened(name, width)
    assert cell_len(short) <= max(width, 1)
    assert (short == name) is (cell_len(name) <= width)
    if short != name:
        first, _, last = short.partition("…")
        assert name.startswith(first)
        assert name.endswith(last)
        assert 0 <= len(first) - len(last) <= 2
