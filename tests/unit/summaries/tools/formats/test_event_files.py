"""Points from other formats, as event files."""

import os

import numpy as np
import pytest

from summaries import read_logdir, read_run
from summaries.tools.formats.event_files import write_runs
from summaries.tools.formats.points import Facts, PointBatch

UMLAUTS = os.fsdecode("größe".encode())  # as a system without UTF-8 reads it


def points(run, tags, steps, values, time=1e9):
    numbers = np.arange(len(steps)) % len(tags)
    return PointBatch(run, tags, numbers, np.array(steps), np.full(len(steps), time), np.array(values, float))


def test_runs_in_batches(tmp_path):
    items = [
        points("a", ["x", "y"], [1, 1], [1, 2]),
        points("b/c", ["y"], [5], [9]),
        Facts("a", {"lr": 0.1, "on": True}, {"note": "hello"}),
        points("a", ["y", "z"], [2, 2, 3], [3, 4, 5]),
        Facts("d", {}, {}),
    ]
    written = write_runs(items, str(tmp_path))
    assert written == (3, 6, 0, 0, 0, 0, {})
    runs = read_logdir(tmp_path)
    assert list(runs) == ["a", "b/c", "d"]
    found = {tag: (s.step.tolist(), s.value.tolist()) for tag, s in runs["a"].scalars.items()}
    assert found == {"x": ([1], [1.0]), "y": ([1, 2, 3], [2.0, 3.0, 5.0]), "z": ([2], [4.0])}
    assert runs["a"].hparams == {"lr": 0.1, "on": True}
    assert [list(items) for items in runs["a"].texts.values()] == [["hello"]]


def test_times_that_the_source_has_not_and_values_too_large(tmp_path):
    item = points(".", ["x"], [1, 2, 3], [1e300, -1e39, np.inf])
    written = write_runs([item._replace(wall_time=np.array([np.nan, 5.0, np.inf]))], str(tmp_path))
    assert (written.timeless, written.overflowed) == (1, 2)
    series = read_run(tmp_path).scalars["x"]
    assert 1.7e9 < series.wall_time[0] < 1e10
    assert (series.wall_time[1:].tolist(), series.value.tolist()) == ([5.0, np.inf], [np.inf, -np.inf, np.inf])


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (["../../up", "/etc/x"], ["%2E%2E/%2E%2E/up", "etc/x"]),
        (["a", "A", "a/", "./a"], ["a", "A_2", "a_3", "a_4"]),
        (["a\nb", "c\\d", ""], ["a%0Ab", "c%5Cd", "."]),
        ([UMLAUTS, "a b"], [UMLAUTS, "a b"]),
    ],
)
def test_no_name_leads_elsewhere(tmp_path, names, paths):
    written = write_runs([points(name, ["x"], [1], [1]) for name in names], str(tmp_path / "out"))
    assert list(read_logdir(tmp_path / "out")) == sorted(paths)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]
    assert written.renamed == {name: path for name, path in zip(names, paths, strict=True) if name != path}


def test_nothing(tmp_path):
    assert write_runs([], str(tmp_path)) == (0, 0, 0, 0, 0, 0, {})
