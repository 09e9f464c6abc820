"""`export`: the target says the format, what is chosen is written, and files appear when they are whole."""

import csv
import io
import math

import numpy as np
import pytest

from summaries import Event, Exported, Summary, SummaryWriter, export, read_logdir, read_run
from summaries.tools.formats import parquet_file
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


def lines(text):
    return [tuple(row.values()) for row in csv.DictReader(io.StringIO(text))]


@pytest.mark.parametrize("source", ["a directory", "runs"])
def test_parquet(logdir, tmp_path, source):
    heard = []
    runs = logdir if source == "a directory" else read_logdir(logdir)
    done = export(runs, tmp_path / "x.parquet", on_run=lambda *what: heard.append(what))
    assert done == Exported(20, ("a", "b/c"))
    assert heard == [("a", ()), ("b/c", ())]
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.schema == read_logdir(logdir).to_arrow().schema
    assert rows_of(table) == ROWS


def test_small_runs_share_row_groups_which_are_bounded(logdir, tmp_path, monkeypatch):
    export(logdir, tmp_path / "x.parquet")
    assert pq.ParquetFile(tmp_path / "x.parquet").metadata.num_row_groups == 1
    monkeypatch.setattr(parquet_file, "_ROW_GROUP_ROWS", 4)
    export(logdir, tmp_path / "x.parquet")
    metadata = pq.ParquetFile(tmp_path / "x.parquet").metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [4, 1, 4, 1, 4, 1, 4, 1]
    assert rows_of(pq.read_table(tmp_path / "x.parquet")) == ROWS


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
    assert export({"r": run}, target).rows == len(values)
    with open(target, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    series = run.scalars[tag]
    np.testing.assert_array_equal([float(row["value"]) for row in rows], series.value)
    assert [float(row["wall_time"]) for row in rows] == series.wall_time.tolist()
    assert {row["tag"] for row in rows} == {tag}


@pytest.fixture
def restarted(tmp_path):
    """Run a: loss at steps 0, 1, 2, 1. Run b: lr at step 5."""
    with SummaryWriter(tmp_path / "logs/a") as writer:
        for number, step in enumerate((0, 1, 2, 1)):
            writer.add_scalar("loss", float(number), step, walltime=100.0 + number)
    with SummaryWriter(tmp_path / "logs/b") as writer:
        writer.add_scalar("lr", 0.5, 5, walltime=200.0)
    return tmp_path / "logs"


def test_wide_csv(restarted):
    file = io.StringIO()
    assert export(restarted, file, wide=True) == Exported(4, ("a", "b"))
    assert file.getvalue() == (
        "run,step,wall_time,loss,lr\na,0,100.0,0.0,\na,1,103.0,3.0,\na,2,102.0,2.0,\nb,5,200.0,,0.5\n"
    )
    export(restarted, file := io.StringIO(), wide=True, latest=True, runs="a")
    assert file.getvalue() == "run,step,wall_time,loss\na,0,100.0,0.0\na,1,103.0,3.0\n"


@pytest.mark.parametrize("cells", [1 << 22, 6])
def test_wide_parquet_is_the_wide_table(restarted, tmp_path, monkeypatch, cells):
    monkeypatch.setattr(parquet_file, "_CELLS", cells)
    assert export(restarted, tmp_path / "x.parquet", wide=True).rows == 4
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.to_pylist() == read_logdir(restarted).to_arrow(wide=True).to_pylist()
    assert pq.ParquetFile(tmp_path / "x.parquet").metadata.num_row_groups == (1 if cells > 6 else 2)


def test_latest_leaves_out_what_a_restart_superseded(restarted, tmp_path):
    for target in ("x.parquet", "ds"):
        export(restarted, tmp_path / target, latest=True)
        assert rows_of(pq.read_table(tmp_path / target)) == [
            ("a", "loss", 0, 0.0),
            ("a", "loss", 1, 3.0),
            ("b", "lr", 5, 0.5),
        ]


@pytest.mark.parametrize("target", ["x.parquet", "x.csv", "ds"])
def test_chosen_tags_and_runs(logdir, tmp_path, target):
    """Patterns may come from an iterator, and every run is asked about them."""
    for _ in range(2):
        done = export(logdir, tmp_path / target, tags=iter(["*ss"]), runs=iter(["*"]))
    export(logdir, tmp_path / f"b{target}", tags=["*ss"], runs=["b*", "x"])
    paths = (tmp_path / target, tmp_path / f"b{target}")
    if target == "x.csv":
        tables = [pa.Table.from_pylist(list(csv.DictReader(io.StringIO(path.read_text())))) for path in paths]
    else:
        tables = [pq.read_table(path) for path in paths]
    assert [set(table["tag"].to_pylist()) for table in tables] == [{"loss"}, {"loss"}]
    assert [len(table) for table in tables] == [10, 5]
    assert done.rows == (0 if target == "ds" else 10)


def test_only_chosen_runs_of_those_that_were_read(logdir):
    file = io.StringIO()
    assert export(read_logdir(logdir), file, tags="lr", runs="a") == Exported(5, ("a",))
    assert {row[:2] for row in lines(file.getvalue())} == {("a", "lr")}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("target", ["x.parquet", "x.csv"])
def test_nothing_to_export(tmp_path, target, wide):
    path = tmp_path / "x.tfevents"
    path.write_bytes(b"")
    assert export(path, tmp_path / target, wide=wide) == Exported(0, (".",))
    names = ["run", "step", "wall_time"] if wide else ["run", "tag", "step", "wall_time", "value"]
    if target == "x.csv":
        assert (tmp_path / target).read_text() == ",".join(names) + "\n"
    else:
        table = pq.read_table(tmp_path / target)
        assert (table.column_names, len(table)) == (names, 0)


def test_an_existing_file_stays_until_the_new_one_is_whole(logdir, tmp_path):
    target = tmp_path / "x.csv"
    target.write_text("old")

    def fails(name, faults):
        assert target.read_text() == "old"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(logdir, target, on_run=fails)
    assert target.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "x.csv"]


def test_a_run_whose_name_is_not_text(logdir, tmp_path):
    run = read_run(logdir / "a", tags="loss")
    for target in ("x.csv", "x.parquet"):
        assert export({"r\udcff": run}, tmp_path / target).rows == 5
    assert (tmp_path / "x.csv").read_text().splitlines()[1].startswith("r\\udcff,loss,0,")
    assert set(pq.read_table(tmp_path / "x.parquet")["run"].to_pylist()) == {"r\\udcff"}


def test_the_format_can_be_given(logdir, tmp_path):
    export(logdir, tmp_path / "v1.2", format="csv")
    assert (tmp_path / "v1.2").read_text().startswith("run,tag")
    export(logdir, tmp_path / "v1.3", format="dataset")
    assert (tmp_path / "v1.3/_manifest.json").exists()


REFUSED = [
    (
        "x.xlsx",
        {},
        "the target must end in .parquet or .csv, or have no ending for a dataset; or give its format: x.xlsx",
    ),
    ("", {}, "the output must have a name, got ''"),
    ("x.csv", {"format": "xml"}, "the format must be one of csv, parquet, dataset, got 'xml'"),
    ("x", {"wide": True}, "a dataset is a long table, so wide does not go with it"),
    ("x.csv", {"delete": True}, "delete is for a dataset, and the format is 'csv'"),
    (
        "x.parquet",
        {"executor": object()},
        "an executor, as of --jobs and --dask, is for a dataset, and the format is 'parquet'",
    ),
]


@pytest.mark.parametrize(("target", "options", "message"), REFUSED)
def test_what_does_not_go_together(logdir, target, options, message):
    with pytest.raises(ValueError, match=message[:20]) as raised:
        export(logdir, target, **options)
    assert str(raised.value) == message


def test_targets_that_do_not_go_with_a_format(logdir, tmp_path):
    with pytest.raises(ValueError, match="from a directory") as raised:
        export(read_logdir(logdir), tmp_path / "ds")
    assert str(raised.value) == "a dataset is made from a directory, not from runs that were read, and is a directory"
    with pytest.raises(ValueError, match="open file") as raised:
        export(logdir, io.StringIO(), format="parquet")
    assert str(raised.value) == "an open file is for CSV, and the format is 'parquet'"
    with pytest.raises(FileNotFoundError, match="no such file or directory"):
        export(tmp_path / "nix", tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("wide", [False, True])
def test_a_run_that_cannot_be_read_is_told_once_and_left_out(logdir, wide):
    (logdir / "b/c/y.tfevents").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError, match="No such file"):
        export(logdir, io.StringIO(), wide=wide)
    file, errors = io.StringIO(), []
    done = export(logdir, file, wide=wide, on_error=errors.append)
    assert [error.filename for error in errors] == [str(logdir / "b/c/y.tfevents")]
    assert done == Exported(5 if wide else 10, ("a",))
    assert {row[0] for row in lines(file.getvalue())} == {"a"}


@pytest.mark.only_on_disks(reason="a link that leads nowhere")
@pytest.mark.parametrize("wide", [False, True])
def test_what_is_there_stays_if_no_run_can_be_read(logdir, tmp_path, wide):
    (logdir / "a/y.tfevents").symlink_to("nowhere")
    target, errors = tmp_path / "x.csv", []
    target.write_text("old")
    with pytest.raises(OSError, match="no run") as raised:
        export(logdir, target, runs="a", wide=wide, on_error=errors.append)
    assert str(raised.value) == "no run can be read, so nothing is exported"
    assert (len(errors), target.read_text()) == (1, "old")
