"""Points that are kept: brought up to date, and what they are not for."""

import shutil

import pytest

from summaries import SummaryWriter, dataset, read_logdir, scan

pytest.importorskip("pyarrow", reason="an extra")


@pytest.fixture
def logdir(tmp_path):
    for name in ("a", "b"):
        log(tmp_path / "logs" / name)
    return tmp_path / "logs"


def log(directory):
    with SummaryWriter(directory) as writer:
        for step in range(3):
            writer.add_scalar("loss", step, step)
            writer.add_scalar("acc", -step, step)


def rows(table):
    return sorted(map(tuple, (row.values() for row in table.to_pylist())))


def test_kept_points_are_those_of_read_logdir_after_every_change(logdir, tmp_path):
    def check():
        kept = dataset(logdir, kept_in=tmp_path / "kept")
        assert kept.schema == dataset(logdir).schema.remove(5)
        assert rows(kept.to_table()) == rows(read_logdir(logdir).to_arrow())

    check()
    log(logdir / "a")  # another file
    check()
    log(logdir / "c/d")
    check()
    shutil.rmtree(logdir / "b")
    check()
    path = read_logdir(logdir)["a"].files[0]
    with open(path, "r+b") as file:
        file.seek(100)
        file.write(b"oops")
    check()
    assert rows(dataset(logdir, tags="loss", kept_in=tmp_path / "kept").to_table()) == rows(
        read_logdir(logdir, tags="loss").to_arrow()
    )


def test_what_has_not_changed_is_not_read(logdir, tmp_path, monkeypatch):
    from summaries.tools.exporting import part

    dataset(logdir, kept_in=tmp_path / "kept")
    read = []
    original = part.read_files
    monkeypatch.setattr(part, "read_files", lambda files, **o: read.append(files[0].path) or original(files, **o))
    assert dataset(logdir, kept_in=tmp_path / "kept").count_rows() == 12
    assert not read
    log(logdir / "b")
    assert dataset(logdir, kept_in=tmp_path / "kept").count_rows() == 18
    assert len(read) == 1


def test_kept_points_in_polars(logdir, tmp_path):
    pl = pytest.importorskip("polars", reason="the extra `polars` is not installed")
    frame = scan(logdir, kept_in=tmp_path / "kept")
    found = frame.filter(pl.col("tag") == "loss", pl.col("run") == "b").select("step", "run").collect()
    assert found.rows() == [(0, "b"), (1, "b"), (2, "b")]
    assert frame.collect_schema() == scan(logdir).drop("session").collect_schema()


def test_only_points_are_kept(logdir, tmp_path):
    with pytest.raises(ValueError, match="`kept_in` is for points, got 'runs'"):
        dataset(logdir, of="runs", kept_in=tmp_path / "kept")
    with pytest.raises(ValueError, match="the target must be new, empty, or a dataset of gradledger"):
        dataset(logdir, kept_in=logdir)
