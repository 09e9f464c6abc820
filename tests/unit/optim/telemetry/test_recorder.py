"""The flight recorder: what was before and after an incident is written, once, as a run of its own."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from helpers import ROOT

from optim import GradientMonitor
from summaries import audit, read_logdir

GRADIENT = np.float32([3, 4])


def train(monitor, steps, spoilt=(), loss=lambda step: 1 + 0.01 * (step % 7)):
    for step in steps:
        gradient = np.float32([np.nan, 4]) if step in spoilt else GRADIENT * (1 + 0.01 * (step % 5))
        monitor.observe(step, {"w": gradient}, {"w": GRADIENT}, clip_norm=1.0, learning_rate=0.1, loss=loss(step))


def incidents(logdir):
    """name → (steps, reasons)"""
    return {
        name: (run.scalars["gradients/norm/w"].step.tolist(), list(run.texts["incident/text_summary"]))
        for name, run in read_logdir(logdir).items()
        if name.startswith("incident")
    }


def test_nothing_is_written_while_nothing_happens(writer, logdir):
    with GradientMonitor(writer, 100, keep_last=20) as monitor:
        train(monitor, range(1, 301))
    writer.flush()
    assert list(read_logdir(logdir)) == ["."]
    assert read_logdir(logdir)["."].scalars["gradients/norm/w"].step.tolist() == [100, 200, 300]


def test_gradients_that_are_not_finite(writer, logdir):
    """One incident, though they stay so for three steps."""
    with GradientMonitor(writer, 100, keep_last=20) as monitor:
        train(monitor, range(1, 201), spoilt={150, 151, 152})
    assert incidents(logdir) == {"incident=150": (list(range(131, 156)), ["gradients are not finite"])}


def test_the_dump_has_all_tags_of_every_step(writer, logdir):
    with GradientMonitor(writer, 10, keep_last=20) as monitor:
        train(monitor, range(1, 41), spoilt={35})
    writer.flush()
    runs = read_logdir(logdir)
    whole, dump = runs["."].scalars, runs["incident=35"].scalars
    assert set(dump) == set(whole)
    for tag in set(dump) - {"train/global_step_per_sec", "gradients/clipped_fraction", "gradients/nonfinite"}:
        at = np.isin(dump[tag].step, whole[tag].step)
        same = np.isin(whole[tag].step, dump[tag].step)
        np.testing.assert_array_equal(dump[tag].value[at], whole[tag].value[same])
    assert (np.diff(dump["gradients/norm/w"].wall_time) >= 0).all()


def test_a_loss_that_is_not_finite(writer, logdir):
    with GradientMonitor(writer, 100, keep_last=8) as monitor:
        train(monitor, range(1, 31), loss=lambda step: np.inf if step == 20 else 1.0)
    assert incidents(logdir) == {"incident=20": (list(range(13, 23)), ["the loss is not finite"])}


def test_a_spike_of_the_loss(writer, logdir):
    with GradientMonitor(writer, 100, keep_last=8) as monitor:
        train(monitor, range(1, 101), loss=lambda step: 5.0 if step == 80 else 1 + 0.01 * (step % 7))
    assert incidents(logdir) == {"incident=80": (list(range(73, 83)), ["a spike of the loss"])}


def test_a_spike_of_the_norm(writer, logdir):
    with GradientMonitor(writer, 100, keep_last=8) as monitor:
        for step in range(1, 101):
            monitor.observe(step, {"w": GRADIENT * (100 if step == 80 else 1 + 0.01 * (step % 7))})
    assert incidents(logdir) == {"incident=80": (list(range(73, 83)), ["a spike of the gradients' norm"])}


def test_no_step_is_written_twice(writer, logdir):
    """A second incident during the first adds its reason; one soon after has only what is new."""
    with GradientMonitor(writer, 100, keep_last=12) as monitor:
        train(monitor, range(1, 41), spoilt={20, 30}, loss=lambda step: np.nan if step == 21 else 1.0)
    assert incidents(logdir) == {
        "incident=20": (list(range(9, 25)), ["gradients are not finite", "the loss is not finite"]),
        "incident=30": (list(range(25, 34)), ["gradients are not finite"]),
    }


def test_on_request(writer, logdir):
    with GradientMonitor(writer, 100, keep_last=8) as monitor:
        assert monitor.dump() is None
        train(monitor, range(1, 21))
        assert monitor.dump("looking") == f"{logdir}/incident=20"
    assert incidents(logdir) == {"incident=20": (list(range(13, 21)), ["looking"])}


def test_without_a_recorder(writer):
    with pytest.raises(
        ValueError, match=r"^dump\(\) needs a flight recorder: GradientMonitor\(writer, keep_last=500\)$"
    ):
        GradientMonitor(writer).dump()
    with pytest.raises(ValueError, match=r"^keep_last must be positive, got 0$"):
        GradientMonitor(writer, keep_last=0)
    assert GradientMonitor(None, keep_last=5).dump() is None


def test_an_exception_in_the_with_block(writer, logdir):
    def fails():
        with GradientMonitor(writer, 100, keep_last=8) as monitor:
            train(monitor, range(1, 21))
            raise RuntimeError("no more data")

    with pytest.raises(RuntimeError, match="no more data"):
        fails()
    assert incidents(logdir) == {"incident=20": (list(range(13, 21)), ["RuntimeError: no more data"])}


def test_an_incident_and_their_number_are_bounded(writer, logdir, caplog):
    """A spike every ten steps, for which each incident would go on for ever."""
    with GradientMonitor(writer, 10**6, keep_last=40) as monitor:
        train(monitor, range(1, 4001), spoilt=range(10, 4001, 10))
    found = incidents(logdir)
    assert [len(steps) for steps, _ in found.values()] == [120] * 20
    assert list(found["incident=10"][0]) == list(range(1, 121))
    assert found["incident=10"][1] == ["gradients are not finite"] * 10 + ["… and 2 more"]
    assert [record.message for record in caplog.records if record.name == "optim"] == [
        f"{logdir}: 20 incidents have been recorded, and no more will be"
    ]


def test_what_is_asked_for_is_recorded_after_many_incidents(writer, logdir):
    with GradientMonitor(writer, 10**6, keep_last=2) as monitor:
        train(monitor, range(1, 301), spoilt=range(10, 301, 10))
        assert monitor.dump("looking") == f"{logdir}/incident=300"
    assert len(incidents(logdir)) == 21


def test_a_second_incident_of_the_same_step(writer, logdir):
    """Of another monitor; and the audit knows which run they are part of."""
    monitors = [GradientMonitor(writer, 10**6, keep_last=5, layout=False) for _ in range(3)]
    for monitor in monitors:
        train(monitor, range(1, 8), spoilt={7})
        monitor.close()
    reason = ["gradients are not finite"]
    assert incidents(logdir) == {f"incident=7{ending}": ([3, 4, 5, 6, 7], reason) for ending in ("", "-1", "-2")}
    codes = {(finding.run, finding.code) for finding in audit(str(logdir)).findings}
    assert codes >= {(f"incident=7{ending}", "GL208") for ending in ("", "-1", "-2")}


def test_a_disk_that_is_full_hides_no_exception(writer, logdir):
    def fails():
        with GradientMonitor(writer, 100, keep_last=8) as monitor:
            train(monitor, range(1, 21))
            logdir.joinpath("incident=20").mkdir()
            monitor._recorder._writer.flush = full
            raise RuntimeError("no more data")

    def full():
        raise OSError(28, "No space left on device")

    before = sys.excepthook, signal.getsignal(signal.SIGTERM)
    with pytest.warns(UserWarning, match="^the last") as warned, pytest.raises(RuntimeError, match=r"^no more data$"):
        fails()
    del writer.flush
    assert (sys.excepthook, signal.getsignal(signal.SIGTERM)) == before
    assert [str(one.message) for one in warned] == [
        "the last steps could not be written: [Errno 28] No space left on device"
    ]


PROGRAM = """
import os, signal, sys, time
import numpy as np
from optim import GradientMonitor
from summaries import SummaryWriter

signal.signal(signal.SIGTERM, signal.default_int_handler) if sys.argv[2] == "handled" else None
monitor = GradientMonitor(SummaryWriter(sys.argv[1]), 100, keep_last=8)
for step in range(1, 21):
    monitor.observe(step, {"w": np.float32([3, 4]) * step})
if sys.argv[2] == "exception":
    raise RuntimeError("no more data")
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("ending", "status", "reasons"),
    [
        ("exception", 1, ["RuntimeError: no more data"]),
        ("SIGTERM", -signal.SIGTERM, ["SIGTERM"]),
        ("handled", -signal.SIGINT, ["SIGTERM", "KeyboardInterrupt"]),
    ],
)
def test_the_process_ends(logdir, ending, status, reasons):
    """By an exception; by SIGTERM; by SIGTERM with a handler of the program's own."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(logdir), ending], cwd=ROOT, check=False, timeout=600)
    assert done.returncode == status
    assert incidents(logdir) == {"incident=20": (list(range(13, 21)), reasons)}


def test_the_audit_sees_the_incident(writer, logdir):
    with GradientMonitor(writer, 100, keep_last=50) as monitor:
        train(monitor, range(1, 201), spoilt={150})
    writer.flush()
    found = {(finding.run, finding.code, finding.steps) for finding in audit(str(logdir)).findings}
    assert found == {(".", "GL401", (200, 200)), ("incident=150", "GL208", (101, 162))}
