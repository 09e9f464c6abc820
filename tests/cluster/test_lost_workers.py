"""Workers that are killed cost nothing but time; a run that kills them costs only itself."""

import os
import random
import signal
import threading

import distributed
import pytest
from cluster.conftest import local_cluster
from processes.doomed import DoomedTask, GreedyTask

from summaries import audit, verify_logdir
from summaries.auditing import engine
from summaries.auditing.report.json import json


def kill_at_random(cluster, rng, done):
    """Kill a worker once, a while after now, unless all is done by then."""
    if not done.wait(rng.random()):
        nanny = rng.choice(list(cluster.workers.values()))
        if nanny.pid:
            os.kill(nanny.pid, signal.SIGKILL)
            return True
    return False


def test_workers_killed_by_signals_at_random(cluster, executor, labelled_logdir):
    expected = json(audit(labelled_logdir))
    rng = random.Random(0)
    killed = []
    while len(killed) < 30:
        done = threading.Event()
        killer = threading.Thread(
            target=lambda done=done: killed.extend([1] * kill_at_random(cluster, rng, done)), daemon=True
        )
        killer.start()
        assert json(audit(labelled_logdir, executor=executor)) == expected
        done.set()
        killer.join()


def test_workers_killed_by_a_memory_limit_at_random(labelled_logdir, tmp_path, monkeypatch):
    """The nanny of a worker kills it when it takes more than its limit."""
    expected = json(audit(labelled_logdir))
    monkeypatch.setattr(engine, "Task", GreedyTask)
    rng = random.Random(0)
    names = sorted(entry.name for entry in labelled_logdir.iterdir() if entry.name != "job")
    with local_cluster(memory_limit="500MiB") as cluster, distributed.Client(cluster, set_as_default=False) as client:
        for number in range(20):
            marker = tmp_path / f"{number}"
            marker.write_text(rng.choice(names))
            client.wait_for_workers(2)
            monkeypatch.setattr(GreedyTask, "marker", marker)
            assert json(audit(labelled_logdir, executor=client.get_executor())) == expected
            assert not marker.exists()  # it was read by the worker that was killed


def test_a_poisonous_run_costs_only_itself(executor, small_logdir, monkeypatch):
    expected = audit(small_logdir)
    monkeypatch.setattr(engine, "Task", DoomedTask)
    monkeypatch.setattr(DoomedTask, "doomed", "run77")
    report = audit(small_logdir, executor=executor)
    (failure,) = report.failures
    assert failure.run == "run77"
    assert failure.reason.startswith("killed its worker three times: Attempted to run task '_work-")
    assert [finding for finding in expected.findings if finding.run != "run77"] == list(report.findings)
    assert len(report.runs) == 5_000


def test_a_file_that_cannot_be_read_is_an_error_of_its_own(executor, tmp_path, small_logdir):
    for number in range(3):
        (tmp_path / f"run{number}").symlink_to(small_logdir / f"run{number}")
    broken = tmp_path / "broken.tfevents"
    broken.symlink_to("nowhere")
    errors = []
    verdicts = verify_logdir(tmp_path, executor=executor, on_error=errors.append)
    assert [verdict.events for verdict in verdicts] == [31] * 3
    assert [error.filename for error in errors] == [str(broken)]
    with pytest.raises(FileNotFoundError):
        verify_logdir(tmp_path, executor=executor)
