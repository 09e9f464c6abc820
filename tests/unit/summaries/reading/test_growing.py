"""A run that grows is at each look what reading all of it gives, and only what is new is read."""

import os

import numpy as np
import pytest
from engines import BOTH, ENGINES, using

from summaries import SummaryWriter, read_run
from summaries.reading.growing import GrowingRun
from summaries.reading.reader import Reader
from summaries.storage.logdir import run_files


def same(run, path, want=None):
    """Whether a run is what reading its files at once gives (`want`, if that is known), but for an unfinished tail."""
    want = want or read_run(path)
    assert run.tags == want.tags
    assert (run.files, run.versions, run.records) == (want.files, want.versions, want.records)
    assert run.faults == want.faults
    for tag, series in want.scalars.items():
        for column in ("step", "wall_time", "value"):
            np.testing.assert_array_equal(getattr(run.scalars[tag], column), getattr(series, column))
        assert run.scalars[tag].restarts == series.restarts
        assert run.file_starts(tag) == want.file_starts(tag)
    assert [len(items) for items in run.histograms.values()] == [len(items) for items in want.histograms.values()]
    return True


def log(writer, start, stop):
    for step in range(start, stop):
        writer.add_scalar("loss", 1 / (1 + step), step)
        writer.add_scalar(f"late/{step // 50}", step, step)
    writer.add_histogram("weights", np.arange(5.0), stop)
    writer.flush()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_look_is_the_whole_run(tmp_path, engine):
    with using(engine):
        run = GrowingRun()
    with SummaryWriter(tmp_path) as writer:
        for start in range(0, 200, 40):
            log(writer, start, start + 40)
            assert same(run.read(run_files(tmp_path)), tmp_path)
    with SummaryWriter(tmp_path, purge_step=150, filename_suffix=".more") as writer:  # another file, and a restart
        log(writer, 150, 250)
        assert same(run.read(run_files(tmp_path)), tmp_path)
        log(writer, 250, 300)
        assert same(run.read(run_files(tmp_path)), tmp_path)


def test_every_cut_of_a_file(tmp_path, request):
    """A file may end anywhere when it is looked at; what is cut off there is read the next time."""
    apart, ahead = (31, 31) if request.config.getoption("--place") else (7, 28)  # a cut is a dozen requests of a store
    with SummaryWriter(tmp_path / "whole") as writer:
        log(writer, 0, 3)
    with open(writer.path, "rb") as file:
        data = file.read()
    os.mkdir(tmp_path / "grows")
    path = tmp_path / "grows" / os.path.basename(writer.path)
    wants = {}  # of each end, of which most come for several cuts
    for cut in range(1, len(data), apart):
        runs = []
        for engine in BOTH:
            with using(engine):
                runs.append(GrowingRun())
        for end in (cut, min(cut + ahead, len(data)), len(data)):
            path.write_bytes(data[:end])
            wants[end] = wants.get(end) or read_run(tmp_path / "grows")
            for run in runs:
                assert same(run.read(run_files(tmp_path / "grows")), tmp_path / "grows", wants[end])


def test_only_what_is_new_is_read(tmp_path, monkeypatch):
    read = []
    real = Reader.read_from

    def counted(self, opened, start=0, number=0):
        yield from real(self, opened, start, number)
        read.append(self.end - start)

    monkeypatch.setattr(Reader, "read_from", counted)
    run = GrowingRun()
    with SummaryWriter(tmp_path) as writer:
        log(writer, 0, 1000)
        run.read(run_files(tmp_path))
        before = os.path.getsize(writer.path)
        log(writer, 1000, 1010)
        run.read(run_files(tmp_path))
        run.read(run_files(tmp_path))
    assert read == [before, os.path.getsize(writer.path) - before]


def test_a_file_that_was_replaced_is_read_again(tmp_path):
    run = GrowingRun()
    with SummaryWriter(tmp_path) as writer:
        log(writer, 0, 20)
    run.read(run_files(tmp_path))
    with SummaryWriter(tmp_path / "other") as other:
        log(other, 100, 160)
    os.replace(other.path, writer.path)
    assert same(run.read(run_files(tmp_path)), tmp_path)
    os.truncate(writer.path, 100)
    assert same(run.read(run_files(tmp_path)), tmp_path)


def test_a_damaged_file_is_read_as_a_whole(tmp_path):
    run = GrowingRun()
    with SummaryWriter(tmp_path) as writer:
        log(writer, 0, 20)
        with open(writer.path, "r+b") as file:
            file.seek(300)
            file.write(b"\xff")
        assert same(run.read(run_files(tmp_path)), tmp_path)
        log(writer, 20, 40)
        assert same(run.read(run_files(tmp_path)), tmp_path)


def test_a_file_that_cannot_be_read(tmp_path):
    run = GrowingRun()
    with SummaryWriter(tmp_path) as writer:
        log(writer, 0, 20)
    files = run_files(tmp_path)
    run.read(files)
    os.rename(writer.path, tmp_path / "away")
    with SummaryWriter(tmp_path, filename_suffix=".more") as more:
        log(more, 0, 5)
    with pytest.raises(FileNotFoundError):
        run.read([*files, *run_files(tmp_path)])
    os.rename(tmp_path / "away", writer.path)
    assert same(run.read(run_files(tmp_path)), tmp_path)


def test_columns_that_were_given_away_stay(tmp_path):
    run = GrowingRun()
    for step in range(100_000):
        run.add("loss", step, 1e9, step)
    before = run.columns().scalars["loss"]
    for step in range(100_000, 200_000):
        run.add("loss", step, 1e9, step)
    assert len(run.columns().scalars["loss"]) == 200_000
    assert before.value.tolist() == list(range(100_000))
