"""A watch reads what is new of runs that grow, compares ranks, and tells a finding again when it had ended."""

import pytest
from audits.watched import Watch

from summaries import SummaryWriter
from summaries.auditing.config import Config
from summaries.reading.growing import GrowingRun


@pytest.fixture
def watching():
    made = []

    def start(*arguments):
        made.append(Watch(*arguments))
        return made[-1]

    yield start
    for one in made:
        one.end()


def test_again_when_it_had_ended(tmp_path, watching):
    """Non-finite gradients, in two episodes far from each other."""
    one = watching(tmp_path, Config(select=("GL401",)))
    with SummaryWriter(tmp_path / "a") as writer:

        def log(start, stop, bad):
            for step in range(start, stop):
                writer.add_scalar("gradients/nonfinite", bad, step)
            writer.flush()
            return one.look()

        log(0, 100, 0)
        assert log(100, 150, 3) == [("a", "GL401")]
        assert log(150, 155, 3) == []
        assert log(155, 300, 0) == []
        assert log(300, 301, 3) == [("a", "GL401")]
        assert log(301, 302, 3) == []


def test_an_incident_repeats_nothing(tmp_path, watching):
    one = watching(tmp_path, Config(select=("GL208", "GL401")))
    with SummaryWriter(tmp_path / "a") as run, SummaryWriter(tmp_path / "a" / "incident=120") as incident:
        for writer in (run, incident):
            for step in range(100, 150):
                writer.add_scalar("gradients/nonfinite", 3 * (step >= 120), step)
        incident.add_text("incident", "gradients are not finite", 120)
        incident.flush()
        run.flush()
        assert one.look() == [("a", "GL401"), ("a/incident=120", "GL208")]


def test_only_runs_that_grow_are_kept(tmp_path, watching, monkeypatch):
    read = []
    real = GrowingRun.read
    monkeypatch.setattr(GrowingRun, "read", lambda self, files: read.append(files[0].path) or real(self, files))
    with SummaryWriter(tmp_path / "still") as still, SummaryWriter(tmp_path / "grows") as grows:
        for writer in (still, grows):
            writer.add_scalar("loss", 1.0, 0)
            writer.flush()
        one = watching(tmp_path)
        one.look()
        for step in range(1, 4):
            grows.add_scalar("loss", 1.0, step)
            grows.flush()
            one.look()
    assert read == [grows.path] * 3


def test_ranks_are_compared_while_they_grow(tmp_path, watching):
    one = watching(tmp_path, Config(select=("GL6",)))
    writers = [SummaryWriter(tmp_path / f"rank={rank}") for rank in range(3)]
    try:
        for stop, found in ((30, []), (60, [("rank=1", "GL611")]), (90, [])):
            for rank, writer in enumerate(writers):
                for step in range(stop - 30, stop):
                    rate = 0.2 if rank == 1 and step >= 40 else 0.1
                    writer.add_scalar("learning_rate", rate, step, walltime=1e9 + step)
                writer.flush()
            assert one.look() == found
    finally:
        for writer in writers:
            writer.close()
