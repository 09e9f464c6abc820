"""Convert: from one format to another and back, by contents and by name."""

import os
import tempfile

import fsspec
import numpy as np
import pytest
from helpers import ROOT
from hypothesis import given
from hypothesis import strategies as st

from summaries import SummaryWriter, read_logdir, read_run
from summaries.reading.stated import from_name
from summaries.tools import convert
from summaries.writing.columns_writer import ColumnsWriter

pytest.importorskip("pyarrow", reason="an extra")
TABLES = ("csv", "parquet", "jsonl")

float32s = st.floats(width=32)
times = st.floats(0, 2e9)
names = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
points = st.lists(st.tuples(names, st.integers(-(2**63), 2**63 - 1), times, float32s), min_size=1, max_size=30)


def write(directory, rows):
    with ColumnsWriter(directory) as writer:
        tags = np.array([writer.number_of(tag) for tag, *_ in rows])
        columns = [np.array(column) for column in list(zip(*rows, strict=True))[1:]]
        writer.add_scalars(tags, columns[0].astype(np.int64), columns[1], columns[2])


def scalars(run):
    """Tag → (steps, times, values) as bytes, so that NaN is NaN and -0.0 is not 0.0."""
    return {
        tag: (one.step.tolist(), one.wall_time.tolist(), [np.float32(value).tobytes() for value in one.value])
        for tag, one in run.scalars.items()
    }


def with_one_nan(run):
    """The same; there is one NaN in text."""
    nan = np.float32(np.nan).tobytes()
    return {
        tag: (*columns, [nan if np.isnan(np.frombuffer(value, np.float32)[0]) else value for value in values])
        for tag, (*columns, values) in scalars(run).items()
    }


@given(rows=points)
def test_there_and_back(rows):
    with tempfile.TemporaryDirectory() as place:
        write(f"{place}/run", rows)
        wanted = with_one_nan(read_run(f"{place}/run"))
        for ending in TABLES:
            there = convert(f"{place}/run", f"{place}/x.{ending}")
            back = convert(f"{place}/x.{ending}", f"{place}/back from {ending}")
            assert (there.runs, there.points, back.runs, back.points) == (1, len(rows), 1, len(rows))
            assert back.notes == ()
            assert with_one_nan(read_run(f"{place}/back from {ending}")) == wanted


@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["a", "b/c"]), st.integers(0, 9), st.integers(0, 10**6), float32s), min_size=1
    )
)
def test_there_and_back_by_mlflow(rows):
    """Its times are milliseconds, by which it orders points."""
    rows = sorted(
        ((tag, step, 1e9 + time / 1000, value) for tag, step, time, value in rows), key=lambda row: row[2:0:-1]
    )
    with tempfile.TemporaryDirectory() as place:
        write(f"{place}/run", rows)
        convert(f"{place}/run", f"{place}/mlruns")
        convert(f"{place}/mlruns", f"{place}/back")
        found = {
            tag: [*zip(*columns, strict=True)]
            for tag, columns in with_one_nan(read_logdir(f"{place}/back")["."]).items()
        }
        expected = {
            tag: [*zip(*columns, strict=True)] for tag, columns in with_one_nan(read_run(f"{place}/run")).items()
        }
        assert {tag: sorted(rows) for tag, rows in found.items()} == {
            tag: sorted(rows) for tag, rows in expected.items()
        }


@pytest.fixture
def logdir(tmp_path):
    for name in ("a", "b/c"):
        with SummaryWriter(tmp_path / "logs" / name) as writer:
            for step in range(5):
                writer.add_scalar("loss", step / 4, step)
            writer.add_histogram("weights", np.arange(9.0), 0)
            writer.add_text("note", "hello", 0)
            writer.add_hparams({"lr": 0.1}, {})
    return tmp_path / "logs"


@pytest.mark.parametrize("name", [*(f"x.{ending}" for ending in TABLES), "x.NDJSON", "mlruns"])
def test_several_runs(logdir, tmp_path, name):
    heard = []
    there = convert(logdir, tmp_path / name, on_run=lambda name, run: heard.append((name, len(run.scalars))))
    assert heard == [("a", 1), ("b/c", 1)]
    mlflow = name == "mlruns"
    kept_back = ["tags of histograms: 2 left out", "tags of texts: 2 left out"]
    assert there.notes[:2] == tuple(kept_back)
    assert ("hyperparameters: 2 left out" in there.notes) is not mlflow
    back = convert(tmp_path / name, tmp_path / "back")
    assert (back.source_format, back.target_format) == (there.target_format, "events")
    runs, found = read_logdir(logdir), read_logdir(tmp_path / "back")
    assert list(found) == list(runs)
    for run in runs:
        assert scalars(found[run])["loss"][::2] == scalars(runs[run])["loss"][::2]
        assert found[run].hparams == ({"lr": 0.1} if mlflow else {})


def test_wandb(tmp_path):
    golden = ROOT / "tests/golden/wandb"
    for source in (golden, golden / "run-abc12345.wandb"):
        target = tmp_path / source.stem
        found = convert(source, target)
        assert (found.source_format, found.runs, found.points) == ("wandb", 1, 405)
        run = read_logdir(target)["a run"]
        assert (len(run.scalars), run.hparams["opt.name"], list(run.texts)) == (5, "adam", ["notes/text_summary"])


def test_formats_that_are_named(logdir, tmp_path):
    convert(logdir, tmp_path / "table.txt", target_format="csv")
    convert(tmp_path / "table.txt", tmp_path / "back", source_format="csv")
    assert len(read_logdir(tmp_path / "back")) == 2
    convert(logdir / "a", tmp_path / "store", target_format="mlflow")
    assert convert(tmp_path / "store", tmp_path / "again").source_format == "mlflow"


def test_tags_and_runs_that_are_chosen(logdir, tmp_path):
    assert convert(logdir, tmp_path / "x.csv", runs="b*").points == 5
    assert convert(logdir, tmp_path / "y.csv", tags=iter(["l*"])).notes == ()
    (tmp_path / "z.csv").write_text("run,step,x,y\na,1,2,3\nb,1,2,3\n", encoding="utf-8")
    assert convert(tmp_path / "z.csv", tmp_path / "out", tags=iter(["y"]), runs="b").points == 1
    assert {name: list(run.scalars) for name, run in read_logdir(tmp_path / "out").items()} == {"b": ["y"]}
    convert(logdir, tmp_path / "mlruns")
    assert convert(tmp_path / "mlruns", tmp_path / "back", runs="a", tags="x").points == 0
    assert read_logdir(tmp_path / "back")["a"].hparams == {"lr": 0.1}


def test_what_is_told(tmp_path):
    (tmp_path / "x.csv").write_text("run,step,tag,value,host\n../a,1,x,1e300,h\nb,2,x,,h\n", encoding="utf-8")
    assert convert(tmp_path / "x.csv", tmp_path / "out").notes == (
        "column 'host': 1 left out",
        "2 points had no time, and got that of the conversion",
        "1 value beyond float32 became infinite",
        "the run '../a' is at %2E%2E/a",
    )
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "x.csv"]
    with SummaryWriter(tmp_path / "logs") as writer:
        writer.add_scalar("größe", 1.0, 0)
    assert convert(tmp_path / "logs", tmp_path / "mlruns").notes == ("the name 'größe' is 'gr__e' in MLflow",)


def test_runs_of_one_name_are_told(tmp_path):
    """What is appended is not taken for a part of a hyperparameter."""
    for i in range(3):
        with SummaryWriter(tmp_path / "logs" / str(i)) as writer:
            writer.add_scalar("loss", i, 0)
    convert(tmp_path / "logs", tmp_path / "mlruns")
    for file in (tmp_path / "mlruns").rglob("mlflow.runName"):
        file.write_text("lr=0.1")
    converted = convert(tmp_path / "mlruns", tmp_path / "back")
    names = list(read_logdir(tmp_path / "back"))
    assert names[0] == "lr=0.1"
    assert converted.notes[:2] == tuple(f"another run 'lr=0.1' is called {name!r}" for name in names[1:])
    assert [from_name(name) for name in names] == [{"lr": 0.1}] * 3


def test_an_address(tmp_path):
    places = fsspec.filesystem("memory")
    places.pipe_file("/conversion/x.csv", b"step,wall_time,loss\n1,2,3\n")
    convert("memory://conversion/x.csv", "memory://conversion/runs/a")
    convert("memory://conversion/runs", "memory://conversion/y.jsonl")
    assert places.cat_file("/conversion/y.jsonl") == (
        b'{"run": "a", "tag": "loss", "step": 1, "wall_time": 2.0, "value": 3.0}\n'
    )
    with pytest.raises(FileNotFoundError, match=r"^no such file: memory://conversion/z\.csv$"):
        convert("memory://conversion/z.csv", tmp_path / "out")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.jsonl", "mlruns"])
def test_a_conversion_that_fails_leaves_nothing(logdir, tmp_path, name, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    target = tmp_path / "new" / name
    with pytest.raises(OSError, match="No space left"):
        convert(logdir, target, on_run=fail)
    assert os.listdir(tmp_path / "new") == []
    convert(logdir, target)
    before = target.stat().st_mtime_ns
    with pytest.raises(FileExistsError, match="the output must be a new"):
        convert(logdir, target)
    assert target.stat().st_mtime_ns == before
    monkeypatch.setattr("summaries.tools.formats.event_files._add", fail)
    with pytest.raises(OSError, match="No space left"):
        convert(target, tmp_path / "back")
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("source", "target", "options", "error", "text"),
    [
        ("nowhere.csv", "out", {}, FileNotFoundError, "no such file or directory: nowhere.csv"),
        ("nowhere", "x.csv", {}, FileNotFoundError, "no such file or directory: nowhere"),
        ("nowhere", "out", {}, FileNotFoundError, "no such file or directory: nowhere"),
        (
            "logs", "out", {}, ValueError,
            "the target must end in .csv, .parquet or .jsonl, or be called mlruns, got out; or name its format",
        ),
        (
            "x.csv", "x.parquet", {}, ValueError,
            "source or target must be event files, got csv and parquet: convert twice, or name the formats",
        ),
        (
            "logs", "out", {"target_format": "events"}, ValueError,
            "source or target must be event files, got events and events: convert twice, or name the formats",
        ),
        (
            "logs", "run-x.wandb", {"target_format": "wandb"}, ValueError,
            "wandb is read, not written: choose one of events, csv, parquet, jsonl, mlflow",
        ),
        (
            "logs", "x", {"target_format": "xml"}, ValueError,
            ("a format must be one of events, csv, parquet, jsonl, mlflow, wandb, trainer, trackio, neptune, swanlab, "
             "clearml, comet, log, got 'xml'"),
        ),
    ],
)  # fmt: skip
def test_what_cannot_be(logdir, monkeypatch, source, target, options, error, text):
    monkeypatch.chdir(logdir.parent)
    with pytest.raises(error) as caught:
        convert(source, target, **options)
    assert str(caught.value) == text
    assert os.listdir() == ["logs"]


@pytest.mark.parametrize("source", ["train.txt", "."])
def test_a_source_of_which_no_format_is_known(tmp_path, monkeypatch, source):
    """It is not the target that is wrong then."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text("step=1 loss=0.5\n")
    with pytest.raises(ValueError, match="a source must be") as caught:
        convert(source, "out")
    assert str(caught.value) == (
        "a source must be event files, or named as files of its format are, such as .csv, .db or .log, "
        f"got {source}; or name its format: wandb, swanlab, mlflow, trainer, trackio, clearml, comet, neptune, "
        "parquet, csv, jsonl, log"
    )
    assert convert("train.txt", "out", source_format="log").points == 1
