"""The LazyFrame of scalars: what a query reads, and that it means what Polars means."""

import pytest

from summaries import NonFiniteWarning, SummaryWriter, read_logdir, scan

pl = pytest.importorskip("polars", reason="the extra `polars` is not installed")

from summaries.tools.querying import points  # noqa: E402 - only with the extra


@pytest.fixture
def logdir(tmp_path):
    for name in ("lr=0.1", "lr=0.2"):
        with SummaryWriter(tmp_path / name) as writer:
            for step in range(4):
                if step < 3:
                    writer.add_scalar("loss", step, step)
                writer.add_scalar("acc", 1.0, step)
            with pytest.warns(NonFiniteWarning):
                writer.add_scalar("loss", float("nan"), 3)
    return str(tmp_path)


CONDITIONS = [
    ([pl.col("tag") == "loss", pl.col("step") > 1], [("lr=0.1", ("loss",)), ("lr=0.2", ("loss",))]),
    ([pl.col("tag").str.starts_with("a") & pl.col("run").str.contains("0.2")], [("lr=0.2", ("acc",))]),
    ([(pl.col("run") == "lr=0.1") & ~(pl.col("tag") == "acc") & (pl.col("value") > 1)], [("lr=0.1", ("loss",))]),
    ([pl.col("run").is_in(["lr=0.2", "x"]), pl.col("step").is_not_null()], [("lr=0.2", ("loss", "acc"))]),
    (
        [(pl.col("run") == "lr=0.1") | (pl.col("step") == 0)],
        [("lr=0.1", ("loss", "acc")), ("lr=0.2", ("loss", "acc"))],
    ),
    ([pl.col("run").is_null()], []),
]


@pytest.mark.parametrize(("conditions", "left"), CONDITIONS)
def test_only_what_a_predicate_leaves_is_read(logdir, monkeypatch, conditions, left):
    done = []
    original = points.read_files

    def recording(files, *, tags):
        run = original(files, tags=tags)
        done.append((files[0].path.split("/")[-2], run.tags))
        return run

    everything = scan(logdir).collect()
    monkeypatch.setattr(points, "read_files", recording)
    found = scan(logdir).filter(*conditions).collect()
    assert done == left
    assert found.equals(everything.filter(*conditions))


def test_all_rows_are_those_of_to_polars(logdir):
    frame, want = scan(logdir).collect(), read_logdir(logdir).to_polars()
    strings = want.with_columns(pl.col("run").cast(pl.String), pl.col("tag").cast(pl.String))
    assert frame.drop("session").equals(strings)
    assert frame.schema == scan(logdir).collect_schema()


def test_columns_limits_and_aggregates(logdir):
    frame = scan(logdir)
    assert frame.filter(pl.col("tag") == "acc").select("step").head(3).collect()["step"].to_list() == [0, 1, 2]
    assert frame.select(pl.len()).collect().item() == 16
    assert frame.head(0).collect().height == 0
    means = frame.filter(pl.col("tag") == "acc").group_by("run").agg(pl.col("value").mean()).sort("run").collect()
    assert means.rows() == [("lr=0.1", 1.0), ("lr=0.2", 1.0)]
    assert scan(logdir, tags="acc", runs="*0.1").collect().height == 4


def test_runs(logdir):
    frame = scan(logdir, of="runs").collect()
    assert frame.select("run", "points", "hparams/lr").rows() == [("lr=0.1", 8, 0.1), ("lr=0.2", 8, 0.2)]
