"""Tables for Arrow, pandas and Polars: long and wide, all points or the latest, of one run or several."""

import subprocess
import sys

import numpy as np
import pytest

from summaries import NonFiniteWarning, Runs, SessionLog, SummaryWriter, read_logdir, read_run
from summaries.presenting.tables import unicode

pa = pytest.importorskip("pyarrow", reason="an extra")
pd = pytest.importorskip("pandas", reason="an extra")

LABEL = pa.dictionary(pa.int32(), pa.string())
LONG = [("tag", LABEL), ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64())]


@pytest.fixture
def logdir(tmp_path):
    """Run a: two tags, of which one has gaps, and a restart at step 1. Run b/c: one of them, and another."""
    with SummaryWriter(tmp_path / "logs/a") as writer:
        for number, step in enumerate((0, 1, 2, 1, 2, 3)):
            writer.add_scalar("loss", 10.0 + number, step, walltime=1.7e9 + number)
            if step % 2 == 0:
                writer.add_scalar("lr", 0.5, step, walltime=1.8e9)
    with SummaryWriter(tmp_path / "logs/b/c") as writer:
        writer.add_scalar("lr", 0.25, 7, walltime=1.7e9)
        with pytest.warns(NonFiniteWarning):
            writer.add_scalar("step", float("nan"), 7, walltime=1.7e9)
    return tmp_path / "logs"


def rows(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def test_a_long_table_of_a_run(logdir):
    run = read_run(logdir / "a")
    table = run.to_arrow()
    assert table.schema == pa.schema(LONG)
    losses = [("loss", step, 1.7e9 + i, 10.0 + i) for i, step in enumerate((0, 1, 2, 1, 2, 3))]
    assert rows(table) == losses + [("lr", step, 1.8e9, 0.5) for step in (0, 2, 2)]
    assert rows(run.to_arrow(latest=True, tags="lo*")) == [losses[i] for i in (0, 3, 4, 5)]
    frame = run.to_pandas()
    assert [tuple(row) for row in frame.itertuples(index=False)] == rows(table)
    assert frame["tag"].dtype == "category"


def test_a_wide_table_of_a_run(logdir):
    table = read_run(logdir / "a").to_arrow(wide=True)
    assert table.schema == pa.schema(
        [(name, pa.int64() if name == "step" else pa.float64()) for name in table.schema.names]
    )
    assert table.schema.names == ["step", "wall_time", "loss", "lr"]
    assert rows(table) == [
        (0, 1.8e9, 10.0, 0.5),
        (1, 1.7e9 + 3, 13.0, None),
        (2, 1.8e9, 14.0, 0.5),
        (3, 1.7e9 + 5, 15.0, None),
    ]


def test_several_runs_with_differing_tags(logdir):
    runs = read_logdir(logdir)
    assert runs.to_arrow().schema == pa.schema([("run", LABEL), *LONG])
    assert [row[:4] for row in rows(runs.to_arrow())][-2:] == [("b/c", "lr", 7, 1.7e9), ("b/c", "step", 7, 1.7e9)]
    wide = runs.to_arrow(wide=True)
    assert wide.schema.names == ["run", "step", "wall_time", "loss", "lr", "step_"]
    assert rows(wide.select(["run", "step", "loss", "lr"]))[-2:] == [("a", 3, 15.0, None), ("b/c", 7, None, 0.25)]
    assert [value is None for value in wide["step_"].to_pylist()] == [True] * 4 + [False]  # NaN is a value
    frame = runs.to_pandas(wide=True)
    assert frame["run"].tolist() == ["a"] * 4 + ["b/c"]
    np.testing.assert_array_equal(frame["loss"], [10.0, 13.0, 14.0, 15.0, np.nan])
    assert str(frame["run"].dtype) == "category"


def test_the_wide_table_is_what_pandas_makes_of_the_long_one(logdir):
    runs = read_logdir(logdir)
    long = runs.to_pandas().drop_duplicates(["run", "tag", "step"], keep="last").astype({"run": str, "tag": str})
    pivoted = long.pivot(index=["run", "step"], columns="tag", values="value")
    pivoted = pivoted.rename(columns={"step": "step_"}).reset_index()
    wide = runs.to_pandas(wide=True).astype({"run": str}).drop(columns="wall_time")
    pd.testing.assert_frame_equal(wide, pivoted[list(wide)], check_names=False)


def test_points_that_a_session_start_superseded(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(3):
            writer.add_scalar("loss", step, step)
        writer.add_session_log(SessionLog(status=SessionLog.START), 1)
    run = read_run(tmp_path)
    assert run.to_arrow(latest=True)["step"].to_pylist() == [0]
    assert run.to_arrow(wide=True, latest=True)["step"].to_pylist() == [0]


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_nothing_has_the_right_types(tmp_path, wide, several):
    path = tmp_path / "x.tfevents"
    path.write_bytes(b"")
    empty = Runs() if several else read_run(path)
    table = empty.to_arrow(wide=wide)
    names = ["step", "wall_time"] if wide else ["tag", "step", "wall_time", "value"]
    assert table.schema.names == ["run"] * several + names
    assert [table.schema.field(name).type for name in ("step", "wall_time")] == [pa.int64(), pa.float64()]
    assert len(table) == 0
    frame = empty.to_pandas(wide=wide)
    assert frame.dtypes["step"] == np.int64
    assert frame.dtypes["wall_time"] == np.float64
    assert list(frame) == table.schema.names


def test_a_tag_that_has_no_name_and_one_of_odd_characters(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for tag in ("a\nb\t", "漢字", "\x1b[31m"):
            writer.add_scalar(tag, 1.0, 0)
        with pytest.warns(UserWarning, match="should not be empty"):
            writer.add_scalar("", 1.0, 0)
    assert read_run(tmp_path).to_arrow(wide=True).schema.names[2:] == ["a\nb\t", "漢字", "\x1b[31m", ""]


def test_a_run_whose_name_is_not_text(logdir):
    run = read_run(logdir / "b/c")
    runs = Runs({"r\udcff": run})
    assert unicode("r\udcff") == "r\\udcff"
    assert runs.to_arrow()["run"].to_pylist() == ["r\\udcff"] * 2
    assert runs.to_pandas(wide=True)["run"].tolist() == ["r\\udcff"]


def test_columns_of_one_tag_are_not_copied(logdir):
    run = read_run(logdir / "a", tags="loss")
    (chunk,) = run.to_arrow()["value"].chunks
    assert chunk.buffers()[1].address == run.scalars["loss"].value.ctypes.data


@pytest.mark.parametrize("wide", [False, True])
def test_polars(logdir, wide):
    polars = pytest.importorskip("polars", reason="the extra `polars` is not installed")
    for what in (read_logdir(logdir), read_run(logdir / "a"), read_run(logdir / "a", tags=())):
        frame, table = what.to_polars(wide=wide), what.to_arrow(wide=wide)
        assert frame.columns == table.column_names
        assert repr(frame.rows()) == repr(rows(table))
        assert frame.schema["step"] == polars.Int64
        assert frame.schema["wall_time"] == polars.Float64


MISSING = """
import sys
for name in ("pyarrow", "pandas", "polars"):
    sys.modules[name] = None
from summaries import Runs
for make in (Runs().to_arrow, Runs().to_pandas, Runs().to_polars):
    try:
        make()
    except ImportError as error:
        print(error)
"""


def test_what_is_missing_says_what_brings_it():
    done = subprocess.run([sys.executable, "-c", MISSING], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "this needs pyarrow: pip install 'gradledger[export]'",
        "this needs pandas: pip install 'gradledger[export]'",
        "this needs polars: pip install 'gradledger[polars]'",
    ]


def test_hyperparameters(tmp_path):
    for name, text in (("lr=0.1_act=relu", "wd: 1e-2\nnesterov: true\n"), ("lr=0.2_seed=1", "wd: big\n")):
        with SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("loss", 1.0, 0)
            writer.add_scalar("loss", 2.0, 1)
        (tmp_path / name / "hparams.yaml").write_text(text)
    runs = read_logdir(tmp_path)
    names = ["hparams/lr", "hparams/act", "hparams/wd", "hparams/nesterov", "hparams/seed"]
    for wide in (False, True):
        table = runs.to_arrow(wide=wide, hparams=True)
        plain = runs.to_arrow(wide=wide)
        assert sorted(table.schema.names) == sorted([*plain.schema.names, *names])
        assert table.select(plain.schema.names) == plain
        found = [tuple(row.values()) for row in table.select(names).to_pylist()]
        assert found == [(0.1, "relu", "0.01", "true", None)] * 2 + [(0.2, None, "big", None, 1.0)] * 2
        sources = [table.schema.field(name).metadata[b"source"] for name in names]
        assert sources == [b"name", b"name", b"hparams.yaml", b"hparams.yaml", b"name"]
    frame = runs.to_pandas(hparams=True)
    assert frame.attrs["hparams"]["hparams/wd"] == "hparams.yaml"
    assert frame["hparams/lr"].tolist() == [0.1, 0.1, 0.2, 0.2]
    assert frame["hparams/act"].isna().tolist() == [False, False, True, True]
    own = runs["lr=0.1_act=relu"].to_pandas(hparams=True)
    assert own["hparams/lr"].tolist() == [0.1, 0.1]
    assert Runs().to_arrow(hparams=True) == Runs().to_arrow()


def test_a_tag_with_the_name_of_a_hyperparameter_stays(tmp_path):
    with SummaryWriter(tmp_path / "lr=1") as writer:
        writer.add_scalar("hparams/lr", 5.0, 0)
    table = read_logdir(tmp_path).to_arrow(wide=True, hparams=True)
    assert table.column("hparams/lr").to_pylist() == [5.0]
    assert table.column("hparams/lr_").to_pylist() == [1.0]
