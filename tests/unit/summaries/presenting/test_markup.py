"""HTML for notebooks: tables whose cells are text, numbers as they are read, names of any length."""

import numpy as np
import pytest
from browser.html_seen import Seen

from summaries.presenting.markup import bar, block, colored, line, number, short, sparkline, table

HOSTILE = "\"'`</td></table><script>alert(1)</script><!--&lt;\x1b[31m\u2028\udcff"


def test_a_table():
    rows = [["a", 1500, 0.5, None], ["b", np.int64(2), np.float32(2.0), colored("x", "error")]]
    seen = Seen(block(table(["tag", "points", "value", ""], rows, "and 3 more")))
    assert seen.rows == [["tag", "points", "value", ""], ["a", "1,500", "0.5", ""], ["b", "2", "2", "x"]]
    assert seen.lines == ["and 3 more"]
    assert seen.is_ours()


def test_numbers_are_set_to_the_right_and_long_text_is_broken():
    text = table(["a", "b"], [["x" * 81, 1]])
    assert "<th>a</th><th class=n>b</th>" in text
    assert f"<td class=w>{'x' * 81}</td><td class=n>1</td>" in text


def test_names_are_text():
    parts = table([HOSTILE], [[HOSTILE], [HOSTILE]], HOSTILE), line(HOSTILE), colored(HOSTILE, "error")
    seen = Seen(block(*parts))
    assert seen.is_ours()
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u2028", "\\u2028").replace("\udcff", "\\udcff")
    assert seen.rows == [[shown]] * 3
    assert seen.lines == [shown] * 2
    block(*parts).encode()  # there is no lone surrogate left


def test_a_sparkline():
    seen = Seen(sparkline(np.array([3.0, np.nan, 1.0])))
    assert seen.elements == {"svg", "path"}
    assert 'class="odd"' in sparkline(np.array([3.0, np.nan, 1.0]))
    assert "odd" not in sparkline(np.array([3.0, 1.0]))


@pytest.mark.parametrize(
    ("share", "width"), [(0.5, "48.0"), (2.0, "96.0"), (-1.0, "0.0"), (np.nan, "0.0"), (np.inf, "0.0")]
)
def test_a_bar(share, width):
    assert f'width="{width}"' in bar(share)


def test_number():
    assert [number(x) for x in (0, 1234567, 0.1, 1e-9, float("inf"))] == ["0", "1,234,567", "0.1", "1e-09", "inf"]


def test_short():
    assert short("a" * 80) == "a" * 80
    assert short("a" * 50 + "b" * 50) == "a" * 40 + "…" + "b" * 39
    assert len(short("\n" * 1_000_000)) == 80
