"""Many runs at once: on any executor the same report; what is known when it is interrupted; reports on disk."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from labelled import faults, jobs
from labelled import runs as labelled
from processes.doomed import DoomedTask

from summaries import audit, compare
from summaries.auditing import engine
from summaries.auditing.config import Config
from summaries.auditing.discovery import RunFiles, runs_below
from summaries.auditing.findings import AuditInterrupted
from summaries.auditing.readable import read_readable
from summaries.auditing.report.json import json
from summaries.auditing.reports import Report
from summaries.auditing.spool import Spool
from summaries.storage.local import LOCAL
from summaries.storage.protocols import StoredFile


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    """Three runs with faults, and a job of eight ranks, one of which has another rate."""
    directory = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(0)
    for maker in (faults.spike, faults.runs_away, faults.flat):
        labelled.write(directory / maker.__name__, rng, maker(rng, 100, 0.02))
    for name, run in jobs.job(rng, 50, jobs.rate_of_one(rng, 50, 0.0)[1]).items():
        labelled.write(directory / name, rng, {tag: (one.step, one.value) for tag, one in run.scalars.items()})
    return directory


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_on_an_executor(logdir, kind):
    here = audit(logdir)
    assert {"GL302", "GL304", "GL611"} <= {finding.code for finding in here.findings}
    with kind(2) as executor:
        assert json(audit(logdir, executor=executor)) == json(here)
        assert compare(logdir, executor=executor).groups == compare(logdir).groups


def test_in_processes(logdir):
    runs = runs_below(logdir)
    found = engine.audit_runs(runs, Config(), processes=True, jobs=2, stretches=1)
    assert json(Report(found)) == json(audit(logdir))


def test_runs_side_by_side_are_judged_as_each_alone(logdir, monkeypatch):
    signals_of = engine.signals_of

    def broken(name, *arguments):
        if name == "runs_away":
            raise ArithmeticError(name)
        return signals_of(name, *arguments)

    monkeypatch.setattr(engine, "signals_of", broken)
    task, runs = engine.Task(Config(), (), 1), runs_below(logdir)
    together = list(task.each(runs))
    assert json(Report(together)) == json(Report([task(run) for run in runs]))
    assert [run.name for run in together] == [run.name for run in runs]
    (failure,) = [failure for run in together for failure in run.failures]
    assert (failure.run, failure.reason.partition(" at ")[0]) == ("runs_away", "ArithmeticError")
    assert {"GL302", "GL303"} <= {finding.code for run in together for finding in run.findings}


@pytest.mark.parametrize(
    ("training", "baseline", "order"),
    [(0, 0, "read read judge judge"), (1 << 20, 0, "read judge read judge"), (0, 1 << 20, "read judge read judge")],
)
def test_runs_with_much_to_compare_with_are_audited_one_by_one(logdir, monkeypatch, training, baseline, order):
    done, signals_of = [], engine.signals_of

    def read(name, files):
        if files[0].path == "training":
            return None, ()
        done.append("read")
        return read_readable(name, files)

    monkeypatch.setattr(engine, "signals_of", lambda *arguments: done.append("judge") or signals_of(*arguments))
    monkeypatch.setattr(engine, "_read_all", lambda _: [])
    beside = (StoredFile("training", training, None, LOCAL),)
    task = engine.Task(Config(), (RunFiles("baseline", (), baseline),), 1, read)
    list(task.each([run._replace(training=beside) for run in runs_below(logdir)[:2]]))
    assert " ".join(done) == order


def test_a_pool_that_loses_a_process(logdir, monkeypatch):
    monkeypatch.setattr(engine, "Task", DoomedTask)
    monkeypatch.setattr(DoomedTask, "doomed", "spike")
    with ProcessPoolExecutor(1) as executor:
        report = audit(logdir, executor=executor)
    ranks = [f"job/rank={rank}" for rank in range(8)]
    assert [run.name for run in report.runs] == ["flat", *ranks, "runs_away", "spike"]
    said = [failure.reason.removeprefix("what differs between the ranks of this job: ") for failure in report.failures]
    assert len(said) == 12
    assert all(reason.startswith("its executor broke, and with it all that was left: A ") for reason in said)
    assert [run.name for run in report.runs if len(run.failures) == 2] == ["job/rank=0"]


def test_jobs_must_be_positive(logdir):
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match=r"^jobs must be at least 1, got 0$"):
        audit(logdir, executor=executor, jobs=0)


def test_an_interruption_has_what_is_known(logdir):
    known = []

    def on_run(name, report):
        known.append(name)
        if len(known) == 3:
            raise KeyboardInterrupt

    with pytest.raises(AuditInterrupted) as raised:
        engine.audit_runs(runs_below(logdir), Config(), jobs=1, on_run=on_run)
    assert [run.name for run in raised.value.runs] == known == ["flat", "job/rank=0", "job/rank=1"]


def test_reports_of_very_many_runs_are_kept_on_disk(logdir, monkeypatch):
    here = audit(logdir)
    monkeypatch.setattr(engine, "_MOST_IN_MEMORY", 5)
    report = audit(logdir)
    assert not isinstance(report.runs, tuple)
    assert json(report) == json(here)
    assert (report.worst, report.findings, report.failures) == (here.worst, here.findings, here.failures)
    assert [run.name for run in report.runs[-2:]] == ["runs_away", "spike"]
    assert report.runs[-1].findings == here.runs[-1].findings


def test_the_last_report_of_a_name_is_found(logdir):
    first, second = audit(logdir).runs[:2]
    spool = Spool()
    spool["a"], spool["b"] = first, first
    spool["a"] = second
    assert (list(spool), len(spool)) == (["a", "b"], 2)
    assert (spool["a"].name, spool["b"].name) == (second.name, first.name)
    with pytest.raises(KeyError):
        spool["c"]
