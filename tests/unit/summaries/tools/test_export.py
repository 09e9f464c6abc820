"""Out of here: Arrow, pandas, Parquet, CSV, and the command line's export."""

import csv
import math
import subprocess
import sys

import numpy as np
import pytest

from summaries import Event, Summary, SummaryWriter, cli, read_logdir, read_run
from summaries.tools import export
from summaries.wire.records import frame

pa = pytest.importorskip("pyarrow", reason="an extra")
pq = pytest.importorskip("pyarrow.parquet", reason="an extra")


@pytest.fixture
def logdir(tmp_path):
    for name, offset in (("a", 0.0), ("b/c", 100.0)):
        with SummaryWriter(tmp_path / "logs" / name) as writer:
            for step in range(5):
                writer.add_scalar("loss", offset + step, step)
                writer.add_scalar("lr", 0.1, step)
    return tmp_path / "logs"


ROWS = [
    *(("a", "loss", step, float(step)) for step in range(5)),
    *(("a", "lr", step, float(np.float32(0.1))) for step in range(5)),
    *(("b/c", "loss", step, 100.0 + step) for step in range(5)),
    *(("b/c", "lr", step, float(np.float32(0.1))) for step in range(5)),
]


def rows_of(table):
    return list(zip(*(table[name].to_pylist() for name in ("run", "tag", "step", "value")), strict=True))


def test_run_to_arrow_and_pandas(logdir):
    run = read_run(logdir / "a")
    table = run.to_arrow()
    assert pa.types.is_dictionary(table["tag"].type)
    assert table.column_names == ["tag", "step", "wall_time", "value"]
    assert table["step"].to_pylist() == [*range(5)] * 2
    frame = run.to_pandas()
    assert frame[frame["tag"] == "loss"]["value"].tolist() == [*range(5)]
    assert frame["wall_time"].between(1.5e9, 1e10).all()


def test_runs_to_one_long_table(logdir):
    runs = read_logdir(logdir)
    assert rows_of(runs.to_arrow()) == ROWS
    frame = runs.to_pandas()
    assert list(zip(frame["run"], frame["tag"], frame["step"], frame["value"], strict=True)) == ROWS
    assert str(frame["run"].dtype) == str(frame["tag"].dtype) == "category"


def test_nothing_to_export(tmp_path):
    path = tmp_path / "x.tfevents"
    path.write_bytes(b"")
    run = read_run(path)
    assert len(run.to_arrow()) == len(run.to_pandas()) == 0
    assert export.export_parquet(path, tmp_path / "x.parquet") == 0
    assert pq.read_table(tmp_path / "x.parquet").num_rows == 0


@pytest.mark.parametrize("source", ["a directory", "runs"])
def test_parquet(logdir, tmp_path, source):
    heard = []
    runs = logdir if source == "a directory" else read_logdir(logdir)
    points = export.export_parquet(runs, tmp_path / "x.parquet", lambda *heard_of: heard.append(heard_of[0]))
    assert (points, heard) == (20, ["a", "b/c"])
    assert rows_of(pq.read_table(tmp_path / "x.parquet")) == ROWS


def test_row_groups_are_bounded(logdir, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_ROW_GROUP_ROWS", 4)
    export.export_parquet(logdir, tmp_path / "x.parquet")
    metadata = pq.ParquetFile(tmp_path / "x.parquet").metadata
    assert max(metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)) <= 4
    assert rows_of(pq.read_table(tmp_path / "x.parquet")) == ROWS


def test_a_dataset_partitioned_by_run(logdir, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    assert export.export_dataset(logdir, tmp_path / "ds") == 20
    table = dataset.dataset(tmp_path / "ds", partitioning="hive").to_table()
    assert sorted(rows_of(table)) == sorted(ROWS)


def test_csv_gives_the_same_numbers_back(tmp_path):
    values = [0.1, 1e-45, -0.0, math.inf, math.nan, 16777217.0]
    tag = 'a "tag", with\nall'
    events = [
        Event(step=i, wall_time=1.7e9 + i / 3, summary=Summary(value=[Summary.Value(tag=tag, simple_value=value)]))
        for i, value in enumerate(values)
    ]
    (tmp_path / "x.tfevents").write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    run = read_run(tmp_path)
    target = tmp_path / "x.csv"
    assert export.export_csv({"r": run}, target) == len(values)
    with open(target, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    series = run.scalars[tag]
    np.testing.assert_array_equal([float(row["value"]) for row in rows], series.value)
    assert [float(row["wall_time"]) for row in rows] == series.wall_time.tolist()
    assert {row["tag"] for row in rows} == {tag}


@pytest.mark.parametrize("target", ["x.parquet", "x.csv", "--partitioned"])
def test_the_command_line(logdir, tmp_path, capsys, target):
    arguments = [str(tmp_path / "ds"), target] if target.startswith("-") else [str(tmp_path / target)]
    assert cli.main(["export", str(logdir), *arguments]) == 0
    assert capsys.readouterr().out == f"{arguments[0]}: 20 points\n"


def test_the_command_line_refuses_other_targets(logdir, capsys):
    assert cli.main(["export", str(logdir), "x.xlsx"]) == 2
    assert capsys.readouterr().err == "gradledger: target must end in .parquet or .csv, got 'x.xlsx'\n"


def test_the_command_line_tells_of_damage(logdir, tmp_path, capsys):
    path = read_run(logdir / "a").files[0]
    with open(path, "ab") as file:
        file.write(bytes(100))
    assert cli.main(["export", path, str(tmp_path / "x.csv")]) == 1
    assert "zero bytes" in capsys.readouterr().err


MISSING = """
import sys
for name in ("pyarrow", "pandas"):
    sys.modules[name] = None
from summaries.reading.tables import arrow_table, pandas_frame
for make in (arrow_table, pandas_frame):
    try:
        make({})
    except ImportError as error:
        print(error)
"""


def test_what_is_missing_says_what_brings_it():
    done = subprocess.run([sys.executable, "-c", MISSING], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "this needs pyarrow: pip install 'gradledger[export]'",
        "this needs pandas: pip install 'gradledger[export]'",
    ]
