"""Parquet: the tables of `test_tables`, with types."""

from decimal import Decimal

import numpy as np
import pytest

from summaries.tools.formats import parquet_file
from summaries.tools.formats.neptune import read_neptune
from summaries.tools.formats.parquet_file import read_parquet
from summaries.tools.formats.points import Facts, LeftOut, PointBatch

pd = pytest.importorskip("pandas", reason="an extra")

pytest.importorskip("pyarrow", reason="an extra")
NAN = np.nan


def read(tmp_path, frame):
    frame.to_parquet(tmp_path / "x.parquet")
    left_out, rows = LeftOut(), []
    for one in read_parquet(str(tmp_path / "x.parquet"), left_out):
        columns = ([one.tags[tag] for tag in one.tag], one.step, one.wall_time, one.value)
        rows += zip([one.run] * len(one.step), *map(list, columns), strict=True)
    return rows, left_out


@pytest.mark.parametrize("cells", [1, 1 << 17])
def test_long(tmp_path, monkeypatch, cells):
    monkeypatch.setattr(parquet_file, "_READ_CELLS", cells)
    frame = pd.DataFrame({
        "tag": pd.Categorical(["x", "y", "x"]), "step": np.array([1, 2, 3], np.int32), "value": [0.5, None, 2.0],
        "wall_time": np.array([1, 2, 3], np.float32), "host": "h",
    })  # fmt: skip
    rows, left_out = read(tmp_path, frame)
    np.testing.assert_equal(rows, [(".", "x", 1, 1.0, 0.5), (".", "y", 2, 2.0, NAN), (".", "x", 3, 3.0, 2.0)])
    assert left_out == {"column 'host'": 1}


def test_wide(tmp_path):
    frame = pd.DataFrame({
        "run": ["a", None], "step": [1.0, 2.0], "x": [None, 3.0], "on": [True, False], "n": np.array([1, 2], np.uint64),
        "text": ["a", "b"],
    })  # fmt: skip
    rows, left_out = read(tmp_path, frame)
    assert [row[:3] + row[4:] for row in rows] == [
        ("a", "on", 1, 1.0), ("a", "n", 1, 1.0), (".", "x", 2, 3.0), (".", "on", 2, 0.0), (".", "n", 2, 2.0),
    ]  # fmt: skip
    assert left_out == {"values of 'text' that are no numbers": 2}


def test_the_numbers_of_rows_are_no_tag(tmp_path):
    rows, left_out = read(tmp_path, pd.DataFrame({"step": [1, 2], "x": [1.0, 2.0]}, index=[5, 7]))
    assert [row[1:3] for row in rows] == [("x", 1), ("x", 2)]
    assert left_out == {"column '__index_level_0__'": 1}


def test_a_step_that_is_none(tmp_path):
    with pytest.raises(ValueError, match=r"x\.parquet, row 2: a step must be an integer of 64 bits, got 1\.5$"):
        read(tmp_path, pd.DataFrame({"step": [1.0, 1.5], "x": [1.0, 2.0]}))


def test_a_run_may_be_the_number_zero(tmp_path):
    rows, _ = read(tmp_path, pd.DataFrame({"run": [0, 1], "step": [1, 1], "x": [1.0, 2.0]}))
    assert [row[0] for row in rows] == ["0", "1"]


def test_a_decimal_step_with_a_fraction_is_not_cut(tmp_path):
    rows, _ = read(tmp_path, pd.DataFrame({"step": [Decimal("1.0"), Decimal("2.0")], "x": [1.0, 2.0]}))
    assert [row[2] for row in rows] == [1, 2]
    with pytest.raises(ValueError, match=r"row 1: a step must be an integer of 64 bits, got Decimal\('1\.5'\)$"):
        read(tmp_path, pd.DataFrame({"step": [Decimal("1.5")], "x": [1.0]}))


def test_a_damaged_page_names_its_file(tmp_path):
    pd.DataFrame({"step": range(20_000), "x": np.arange(20_000) / 7}).to_parquet(tmp_path / "whole.parquet")
    data = bytearray((tmp_path / "whole.parquet").read_bytes())
    data[2000:2400] = b"\xff" * 400
    (tmp_path / "x.parquet").write_bytes(data)
    with pytest.raises(ValueError, match=r"x\.parquet: not Parquet: Corrupt snappy compressed data\.$"):
        list(read_parquet(str(tmp_path / "x.parquet"), LeftOut()))


def test_what_pyarrow_does_not_implement(tmp_path, monkeypatch):
    """A flipped bit may make a type of a column that no program has."""

    def fail(self, _rows):
        raise NotImplementedError("Integers with more than 64 bits not implemented")

    monkeypatch.setattr("pyarrow.parquet.ParquetFile.iter_batches", fail)
    with pytest.raises(ValueError, match=r"x\.parquet: not Parquet: Integers with more than 64 bits"):
        read(tmp_path, pd.DataFrame({"step": [1], "x": [1.0]}))


def test_another_file(tmp_path):
    path = tmp_path / "x.parquet"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"x\.parquet: not Parquet: "):
        list(read_parquet(str(path), LeftOut()))


def test_runs_of_two_neptune_projects_that_have_one_id(tmp_path):
    """An id is unique in its project only."""
    for i, project in enumerate(("lab/a", "lab/b")):
        pd.DataFrame({
            "project_id": project, "run_id": "r", "attribute_path": ["loss", "n"],
            "attribute_type": ["float_series", "int"],
            "step": [1.0, None], "timestamp": pd.to_datetime([1_700_000_000, None], unit="s", utc=True),
            "float_value": [float(i), None], "int_value": [None, i], "string_value": pd.array([None, None], "string"),
        }).to_parquet(tmp_path / f"{i}_part_0.parquet")  # fmt: skip
    batches = [item for item in read_neptune(str(tmp_path), LeftOut()) if isinstance(item, PointBatch)]
    assert [(one.run, one.value.tolist()) for one in batches] == [("r", [0.0]), ("r,lab/b", [1.0])]


def test_a_damaged_part_of_a_neptune_export_is_left_out_whole(tmp_path):
    """Its damage shows where it is read, not where it is opened."""
    for number in range(3):
        pd.DataFrame({
            "project_id": "p", "run_id": "RUN-1", "attribute_path": "loss", "attribute_type": "float_series",
            "step": np.arange(1000.0) + 1000 * number, "timestamp": pd.to_datetime(1_700_000_000, unit="s", utc=True),
            "float_value": np.random.default_rng(number).normal(size=1000),
        }).to_parquet(tmp_path / f"RUN-1_part_{number}.parquet")  # fmt: skip
    path = tmp_path / "RUN-1_part_1.parquet"
    data = bytearray(path.read_bytes())
    data[400:900] = bytes(one ^ 0x5A for one in data[400:900])
    path.write_bytes(data)
    (tmp_path / "RUN-1_part_3.parquet.tmp").touch()
    left_out = LeftOut()
    batches = [item for item in read_neptune(str(tmp_path), left_out) if isinstance(item, PointBatch)]
    assert [int(batch.step[0]) for batch in batches] == [0, 2000]
    assert list(left_out.broken) == [str(path)]
    assert left_out.broken[str(path)].startswith(f"{path}: not Parquet: ")
    assert left_out["files *.parquet.tmp, which the exporter did not finish"] == 1


def test_settings_of_a_neptune_run_have_the_names_that_other_loggers_give_them(tmp_path):
    names = ["parameters/lr", "parameters/seed", "seed", "model/parameters/width", "sys/id", "sys/owner", "sys/tags"]
    pd.DataFrame({
        "project_id": "lab/a", "run_id": "r", "attribute_path": names, "attribute_type": "float", "step": None,
        "timestamp": pd.to_datetime([None] * len(names), unit="s", utc=True), "float_value": np.arange(len(names)) / 8,
    }).to_parquet(tmp_path / "r_part_0.parquet")  # fmt: skip
    left_out = LeftOut()
    (facts,) = read_neptune(str(tmp_path), left_out)
    assert facts.hyperparameters == {
        "lr": 0, "parameters/seed": 0.125, "seed": 0.25, "model/parameters/width": 0.375, "sys/tags": 0.75,
    }  # fmt: skip
    assert left_out.notes() == ["settings of Neptune's own: 2 left out"]


def test_one_part_of_a_neptune_export_says_that_there_are_others(tmp_path):
    part = pd.DataFrame({
        "project_id": "p", "run_id": "RUN-1", "attribute_path": "loss", "attribute_type": "float_series",
        "step": [1.0], "timestamp": pd.to_datetime(1_700_000_000, unit="s", utc=True), "float_value": [0.5],
    })  # fmt: skip
    for name in ("RUN-1_part_0", "RUN-1_part_1", "RUN-1_part_12", "RUN-11_part_0", "whole"):
        part.to_parquet(tmp_path / f"{name}.parquet")
    said = {}
    for name in ("RUN-1_part_1", "RUN-11_part_0", "whole"):
        left_out = LeftOut()
        list(read_neptune(str(tmp_path / f"{name}.parquet"), left_out))
        said[name] = left_out.notes()
    assert said == {
        "RUN-1_part_1": ["files beside it with other parts of the same: 2 left out"], "RUN-11_part_0": [], "whole": [],
    }  # fmt: skip


def test_what_a_neptune_run_lacks_is_no_text(tmp_path):
    """The exporter writes a null for each attribute of the other runs, perhaps of another type than the run's own."""
    pd.DataFrame({
        "project_id": "lab/a", "run_id": ["r", "r", "s"], "attribute_path": ["lr", "lr", "lr"],
        "attribute_type": ["float", "string", "string"], "step": [None] * 3,
        "timestamp": pd.to_datetime([None] * 3, unit="s", utc=True), "float_value": [0.1, None, None],
        "string_value": pd.array([None, None, "cosine"], "string"),
    }).to_parquet(tmp_path / "a_part_0.parquet")  # fmt: skip
    facts = {
        item.run: item.hyperparameters for item in read_neptune(str(tmp_path), LeftOut()) if isinstance(item, Facts)
    }
    assert facts == {"r": {"lr": 0.1}, "s": {"lr": "cosine"}}
