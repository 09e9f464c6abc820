"""The Arrow dataset of scalars: what it reads of which runs, and what engines make of it."""

import pickle
import shutil

import numpy as np
import pytest
from helpers import run

from summaries import SummaryWriter, dataset, read_logdir

pytest.importorskip("pyarrow", reason="an extra")

from summaries.tools.querying import points

pa = pytest.importorskip("pyarrow", reason="an extra")
import pyarrow.dataset as pads  # noqa: E402 - only with the extra

field = pads.field


@pytest.fixture
def logdir(tmp_path):
    """Three runs with two tags of five steps each; the last run has two files."""
    for name in ("a", "b/c", "d", "d"):
        with SummaryWriter(tmp_path / "logs" / name) as writer:
            for step in range(5):
                writer.add_scalar("loss", 10.0 - step, step, walltime=1.7e9 + step)
                writer.add_scalar("val/acc", step / 10, step, walltime=1.8e9 + step)
    return str(tmp_path / "logs")


@pytest.fixture
def read(monkeypatch):
    """What is read: the tags of each run that were decoded, by the name of its directory."""
    done = {}
    original = points.read_files

    def recording(files, *, tags):
        own = original(files, tags=tags)
        done[own.files[0].split("/")[-2]] = own.tags
        return own

    monkeypatch.setattr(points, "read_files", recording)
    return done


def test_all_rows_are_those_of_read_logdir(logdir):
    table = dataset(logdir).to_table()
    want = read_logdir(logdir).to_arrow()
    assert table.schema.names == [*want.schema.names, "session"]
    assert table.drop(["session"]).to_pylist() == want.to_pylist()
    assert table.filter(field("run") == "d")["session"].to_pylist() == [0] * 5 + [1] * 5 + [0] * 5 + [1] * 5


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        (field("run") == "a", {"a": ("loss", "val/acc")}),
        (field("tag") == "loss", {"a": ("loss",), "c": ("loss",), "d": ("loss",)}),
        ((field("tag") == "loss") & (field("run") != "a") & (field("step") > 3), {"c": ("loss",), "d": ("loss",)}),
        (field("run").isin(["a", "x"]) & field("tag").isin(["val/acc", "y"]), {"a": ("val/acc",)}),
        ((field("run") == "a") | (field("step") > 3), dict.fromkeys("acd", ("loss", "val/acc"))),
        (field("run") == "no", {}),
        (field("run").is_null(), {}),
    ],
)
def test_only_the_runs_and_tags_that_a_filter_leaves_are_read(logdir, read, condition, left):
    everything = dataset(logdir).to_table()
    read.clear()
    found = dataset(logdir).to_table(filter=condition)
    assert read == left
    assert found.to_pylist() == everything.filter(condition).to_pylist()


def test_columns_and_limits(logdir, read):
    some = dataset(logdir)
    losses = (field("tag") == "loss") & (field("step") == 4)
    assert some.to_table(columns=["value"], filter=losses).to_pydict() == {"value": [6.0] * 4}
    assert some.to_table(columns={"twice": field("value") * 2}, filter=field("run") == "a")["twice"][0].as_py() == 20.0
    assert some.count_rows() == some.to_table(columns=[]).num_rows == 40
    read.clear()
    assert some.head(7, columns=["run"]).to_pydict() == {"run": ["a"] * 7}
    assert list(read) == ["a"]
    assert some.head(0).num_rows == 0
    assert some.take([39])["run"].to_pylist() == ["d"]
    assert [batch.num_rows for batch in some.to_batches(batch_size=4, filter=field("run") == "a")] == [4, 4, 2]


def test_arguments_select_as_those_of_read_logdir_do(logdir, read):
    table = dataset(logdir, tags="val/*", runs=["a", "b/*"]).to_table()
    assert table.num_rows == 10
    assert read == {"a": ("val/acc",), "c": ("val/acc",)}
    assert dataset(logdir, runs="no").to_table().num_rows == 0


def test_a_narrowed_dataset(logdir):
    narrowed = dataset(logdir).filter(field("run") == "a").filter(field("step") > 2)
    assert narrowed.count_rows() == 4
    assert narrowed.to_table(filter=field("tag") == "loss")["step"].to_pylist() == [3, 4]


def test_sorted_and_joined(logdir):
    """What Arrow does with a dataset without its scanner."""
    scalars = dataset(logdir, tags="loss", runs=["a", "d"])
    steps = scalars.sort_by([("step", "descending"), ("run", "ascending")]).to_table()["step"].to_pylist()
    assert steps == sorted(steps, reverse=True)
    assert len(steps) == 15
    assert scalars.join(dataset(logdir, of="runs"), "run").to_table().num_rows == 15
    accuracy = dataset(logdir, tags="val/acc", runs="a")
    both = scalars.filter(field("run") == "a").join(accuracy, ["run", "step"], right_suffix="2")
    assert both.sort_by("step").to_table().select(["value", "value2"]).to_pylist()[1] == {
        "value": 9.0, "value2": pytest.approx(0.1),
    }  # fmt: skip


def test_damaged_and_growing_files(logdir):
    path = read_logdir(logdir)["a"].files[0]
    with open(path, "r+b") as file:
        content = file.read()
        file.seek(100)
        file.write(b"oops")
        file.seek(0, 2)
        file.write(content[:30])
    before = dataset(logdir)
    want = read_logdir(logdir)
    assert want["a"].faults
    assert before.to_table().drop(["session"]).to_pylist() == want.to_arrow().to_pylist()
    with SummaryWriter(f"{logdir}/a") as writer:
        writer.add_scalar("loss", 1.0, 9)
    assert dataset(logdir).count_rows() == before.count_rows() + 1


def test_names_that_are_no_text(tmp_path):
    directory = tmp_path / "run\udcff"
    try:
        directory.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("this system has no such names")
    with SummaryWriter(str(directory)) as writer:
        writer.add_scalar("loss", 1.0, 0)
    table = dataset(str(tmp_path)).to_table(filter=field("run") == "run\\udcff")
    assert table["run"].to_pylist() == ["run\\udcff"]


def test_a_file_that_cannot_be_read_is_an_error(logdir):
    some = dataset(logdir)
    shutil.rmtree(f"{logdir}/d")
    with pytest.raises(FileNotFoundError):
        some.to_table()
    assert some.to_table(filter=field("run") == "a").num_rows == 10


def test_a_bucket():
    with SummaryWriter("memory://querying/a") as writer:
        writer.add_scalar("loss", 1.0, 0)
    assert dataset("memory://querying").to_table()["value"].to_pylist() == [1.0]


def test_wrong_uses(logdir):
    with pytest.raises(ValueError, match="`of` must be one of points, runs, got 'tags'"):
        dataset(logdir, of="tags")
    with pytest.raises(TypeError, match="not sent to another process"):
        pickle.dumps(dataset(logdir))


def test_a_reader_that_is_left_does_not_keep_the_program(logdir):
    """Arrow's own scanner waits for ever for a generator that nobody reads to its end."""
    program = (
        "import sys, pyarrow.dataset; from summaries import dataset; points = dataset(sys.argv[1]); points.head(1);"
        "reader = points.scanner().to_reader(); print(reader.read_next_batch().num_rows)"
    )
    assert run("-c", program, logdir) == "10\n"


def test_duckdb(logdir, read):
    duckdb = pytest.importorskip("duckdb", reason="`make stores` installs it")
    scalars = dataset(logdir)
    found = duckdb.sql("SELECT run, avg(value) FROM scalars WHERE tag = 'loss' AND step >= 3 GROUP BY run ORDER BY run")
    assert found.fetchall() == [("a", 6.5), ("b/c", 6.5), ("d", 6.5)]
    assert set(read.values()) == {("loss",)}
    runs = dataset(logdir, of="runs")  # noqa: F841 - the query names it
    query = "SELECT run, files, count(*) FROM scalars JOIN runs USING (run) WHERE session = 1 GROUP BY ALL"
    assert duckdb.sql(query).fetchall() == [("d", 2, 10)]
    assert duckdb.sql("SELECT count(*) FROM scalars").fetchall() == [(40,)]
    assert np.isclose(duckdb.sql("SELECT max(wall_time) FROM scalars").fetchall()[0][0], 1.8e9 + 4)
    assert scalars.schema == points.SCHEMA
