"""JSON lines: points as objects, and objects with several tags."""

import json
from itertools import chain

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from summaries import SummaryWriter, read_logdir
from summaries.tools.formats import json_lines
from summaries.tools.formats.json_lines import read_json_lines, write_json_lines
from summaries.tools.formats.points import LeftOut

NAN, INF = np.nan, np.inf


def read(path):
    left_out, rows = LeftOut(), []
    for one in read_json_lines(str(path), left_out):
        columns = ([one.tags[tag] for tag in one.tag], one.step, one.wall_time, one.value)
        rows += zip([one.run] * len(one.step), *map(list, columns), strict=True)
    return rows, left_out


@pytest.mark.filterwarnings("ignore::summaries.NonFiniteWarning")
@pytest.mark.parametrize("lines", [1, 2, 1 << 14])
def test_written_and_read_back(tmp_path, monkeypatch, lines):
    monkeypatch.setattr(json_lines, "_LINES", lines)
    points = [("a\n\x1b", 1, 1.5, 0.5), ("ü", 2, INF, NAN), ("a\n\x1b", 2, NAN, INF), ("ü", 3, -INF, -INF)]
    for run in ("x", "y/z"):
        with SummaryWriter(tmp_path / "logs" / run) as writer:
            for tag, step, time, value in points:
                writer.add_scalar(tag, value, step, time)
    runs = read_logdir(tmp_path / "logs")
    assert write_json_lines(runs.items(), str(tmp_path / "x.jsonl")) == 8
    text = (tmp_path / "x.jsonl").read_text(encoding="utf-8")
    objects = [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()]
    assert objects[1] == {"run": "x", "tag": "a\n\x1b", "step": 2, "wall_time": "NaN", "value": "Infinity"}
    rows, left_out = read(tmp_path / "x.jsonl")
    expected = [(run, *point) for run in runs for point in sorted(points, key=lambda point: point[0])]
    np.testing.assert_equal(sorted(rows, key=lambda row: row[:3]), expected)
    assert not left_out


def test_objects_with_several_tags(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"step": 1, "loss": 0.5, "acc": null, "name": "a", "on": true, "more": {"x": 1}}\n\n'
        '{"_step": 2.0, "_timestamp": 9, "loss": NaN, "run": "b"}\n{"step": 3, "tag": "x", "value": "Infinity"}\n',
        encoding="utf-8",
    )
    rows, left_out = read(path)
    expected = [
        (".", "loss", 1, NAN, 0.5),
        (".", "on", 1, NAN, 1.0),
        (".", "x", 3, NAN, INF),
        ("b", "loss", 2, 9.0, NAN),
    ]
    np.testing.assert_equal(rows, expected)
    assert left_out == {f"values of '{tag}' that are no numbers": 1 for tag in ("name", "more")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"step": 1}\n{"step"\n', "line 2: not JSON: Expecting ':' delimiter: line 2 column 1 (char 8)"),
        ("[1, 2]\n", "line 1: there must be an object, got [1, 2]"),
        ('{"loss": 1, "acc": 2}\n', "line 1: there must be a 'step', got 'loss', 'acc'"),
        ("{}\n", "line 1: there must be a 'step', got nothing"),
        ('{"step": "x", "loss": 1}\n', "line 1: a step must be an integer of 64 bits, got 'x'"),
        ("[" * 100_000, "line 1: not JSON: maximum recursion depth exceeded"),
    ],
)
def test_what_is_no_point(tmp_path, text, message):
    (tmp_path / "x.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - all of its text follows
        read(tmp_path / "x.jsonl")
    assert str(caught.value).startswith(f"{tmp_path / 'x.jsonl'}, {message}")


def test_cells_that_are_lists_stay_cells(tmp_path):
    """As many as there are rows, of one length each: an array of them would have two dimensions."""
    rows = [{"run": ["a", 1], "wall_time": [1, 2], "step": step, "loss": 0.5, "acc": step} for step in range(3)]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    found, left_out = read(tmp_path / "x.jsonl")
    assert {row[0] for row in found} == {"['a', 1]"}
    assert [row[1:3] for row in found] == [(tag, step) for step in range(3) for tag in ("loss", "acc")]
    assert left_out == {"times that are not seconds since the epoch": 6}


def test_a_step_that_is_none_names_its_line(tmp_path):
    """Not its number among points, of which a line has several."""
    (tmp_path / "x.jsonl").write_text('{"step": 1, "a": 1, "b": 2}\n\n{"step": 1.5, "a": 1, "b": 2}\n')
    with pytest.raises(ValueError, match=r"x\.jsonl, line 3: a step must be an integer of 64 bits, got 1\.5$"):
        read(tmp_path / "x.jsonl")


LINES = [
    '{"step": 1, "a": 2.5}', '{"step": 2, "a": null}', '{"step": 3, "tag": "a", "value": 1}', '{"step": 4, "t": "}{"}',
    '{"step": 5, "a": 1} ', '{"step": 6, "a": [{"b": 1}', '{"c": 2}]}', '{"step": 7, "a": 1}, {"step": 8, "a": 4}',
    '{"step": 9, "a": [1', "2]}", '{"step": 10}', '{"step": 11, "a": 1},', '{"a": 1}',
    '{"run": "b", "step": 1, "a": 1}', "  ",
]  # fmt: skip


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=6))
def test_each_line_is_read_as_if_it_were_alone(tmp_path, lines):
    """Also where two that are wrong would be right together."""

    def read_text(text):
        path = tmp_path / "x.jsonl"
        path.write_text(text, encoding="utf-8")
        try:
            return sorted(read(path)[0], key=lambda row: row[:3])
        except ValueError:
            return "an error"

    alone = [read_text(line + "\n") for line in lines]
    together = read_text("\n".join(lines))
    if "an error" in alone:
        assert together == "an error"
    else:
        np.testing.assert_equal(together, sorted(chain.from_iterable(alone), key=lambda row: row[:3]))
