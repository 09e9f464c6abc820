"""GL1xx and GL2xx, on files: damage, restarts, clocks, two writers."""

import re

import numpy as np
import pytest

from summaries import Event, Severity, SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.wire.records import frame

SEEDS = range(5)
EVERYTHING = Config()


def log(directory, steps, *, secs=1.0, start=1e9, suffix="", purge=None, value=lambda step: 1 / (1 + step), tag="loss"):
    """A file in which each step was logged `secs` after the one before, from `start` on."""
    with SummaryWriter(directory, filename_suffix=suffix, purge_step=purge) as writer:
        for i, step in enumerate(steps):
            writer.add_scalar(tag, value(step), step, walltime=start + i * secs)
    return writer.path


def found(directory, config=EVERYTHING):
    """{code: finding} of the only run below a directory."""
    (run,) = audit(directory, config).runs
    return {finding.code: finding for finding in run.findings}


def damage(path, where, replacement):
    with open(path, "r+b") as file:
        file.seek(where, 0 if where >= 0 else 2)
        file.write(replacement)


@pytest.mark.parametrize("cut", [1, 5, 17, 30])
@pytest.mark.parametrize("points", [1, 20, 3000])
def test_a_truncated_tail(tmp_path, points, cut):
    path = log(tmp_path, range(points))
    with open(path, "r+b") as file:
        file.truncate(file.seek(0, 2) - cut)
    assert set(found(tmp_path)) - {"GL107"} == {"GL101"}


def test_wherever_a_file_ends_it_is_audited(tmp_path):
    """As while it is written: nothing but its tail is wrong with it."""
    path = log(tmp_path, range(40))
    with open(path, "r+b") as file:
        for size in range(file.seek(0, 2) - 1, 60, -29):
            file.truncate(size)
            assert set(found(tmp_path)) <= {"GL101"}


def test_the_words_of_a_truncated_tail(tmp_path):
    path = log(tmp_path, range(10))
    with open(path, "r+b") as file:
        size = file.truncate(file.seek(0, 2) - 5)
    finding = found(tmp_path)["GL101"]
    got = size - finding.evidence["offset"]
    assert finding.message == (
        f"{path} ends inside a record: {got} bytes of {got + 5} bytes; it was cut short, or is still being written"
    )
    assert (finding.name, finding.severity, finding.count) == ("truncated-tail", Severity.WARNING, 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("points", [20, 3000])
def test_a_damaged_payload(tmp_path, points, seed):
    damage(log(tmp_path, range(points)), -10 - seed, b"\xff\xfe")
    assert set(found(tmp_path)) == {"GL102"}


@pytest.mark.parametrize("points", [20, 3000])
def test_a_damaged_length(tmp_path, points):
    path = log(tmp_path, range(points))
    damage(path, 0, b"\x19")
    assert set(found(tmp_path)) == {"GL103"}


@pytest.mark.parametrize("tail", [8, 500, 70_000])
def test_zeros_and_other_files_have_no_length(tmp_path, tail):
    path = log(tmp_path / "run", range(20))
    with open(path, "ab") as file:
        file.write(bytes(tail))
    assert set(found(tmp_path)) & {"GL101", "GL103"}
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.tfevents.txt").write_bytes(b"no event file at all, but some text of some length\n" * 9)
    codes = {run.name: {finding.code for finding in run.findings} for run in audit(tmp_path, EVERYTHING).runs}
    assert codes["other"] == {"GL103"}


def test_an_undecodable_record(tmp_path):
    path = log(tmp_path, range(20))
    with open(path, "ab") as file:
        file.write(frame(b"not an event") * 3)
    finding = found(tmp_path)["GL104"]
    assert (finding.count, finding.evidence["record"]) == (3, 21)


def test_no_version_and_no_events(tmp_path):
    (tmp_path / "a.tfevents").write_bytes(frame(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString()))
    assert set(found(tmp_path)) == {"GL107"}
    (tmp_path / "a.tfevents").write_bytes(b"")
    assert set(found(tmp_path)) == {"GL107"}
    (tmp_path / "a.tfevents").write_bytes(
        frame(Event(wall_time=1.0, step=1, log_message={"message": "x"}).SerializeToString())
    )
    assert set(found(tmp_path)) == {"GL105"}


@pytest.mark.parametrize("shift", [0.0, 0.5, 30.0])
def test_two_writers(tmp_path, shift):
    for i in range(2):
        log(tmp_path, range(100), suffix=f".{i}", start=1e9 + i * shift, value=lambda step, i=i: i + 1 / (1 + step))
    codes = found(tmp_path)
    assert codes["GL106"].severity is Severity.WARNING
    assert codes["GL106"].tag == "loss"
    assert codes["GL106"].steps == (0, 99)
    assert set(codes) == {"GL106"}


def test_two_writers_of_different_tags_are_a_note(tmp_path):
    for tag in ("loss", "cpu"):
        log(tmp_path, range(100), suffix=f".{tag}", tag=tag)
    assert found(tmp_path)["GL106"].severity is Severity.INFO


@pytest.mark.parametrize("back", [2, 7, 60])
def test_steps_that_go_back(tmp_path, back):
    log(tmp_path, [*range(100), *range(100 - back, 150)])
    finding = found(tmp_path)["GL201"]
    assert (finding.tag, finding.count) == ("loss", 1)
    assert finding.message == f"loss: the step goes back from 99 to {100 - back} without a restart mark"
    assert finding.steps == (100 - back, 99)


def test_a_marked_restart_is_a_note(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(60, 150), suffix=".1", start=1e9 + 500, purge=60, value=lambda step: 2 / (1 + step))
    codes = found(tmp_path)
    assert set(codes) == {"GL206"}
    assert codes["GL206"].message == "restarted at step 60; 40 points of loss were superseded"


def test_a_mark_above_where_the_steps_go_is_no_mark_of_that(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(60, 150), suffix=".1", start=1e9 + 500, purge=80)
    assert {"GL201", "GL206"} <= set(found(tmp_path))


def test_going_on_in_another_file_is_a_note(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(100, 150), suffix=".1", start=1e9 + 5000)
    assert set(found(tmp_path)) == {"GL206"}


@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_conflicting_steps(tmp_path, share):
    twice = set(np.random.default_rng(0).choice(100, int(share * 100), replace=False).tolist())
    steps = [step for step in range(100) for _ in range(1 + (step in twice))]
    with SummaryWriter(tmp_path) as writer:
        for i, step in enumerate(steps):
            writer.add_scalar("loss", 1 / (2 + i), step, walltime=1e9 + i)
    finding = found(tmp_path)["GL202"]
    assert finding.count == len(twice)
    assert finding.steps == (min(twice), max(twice))


def test_the_same_value_twice_is_no_conflict(tmp_path):
    log(tmp_path, [step for step in range(100) for _ in range(2)])
    assert found(tmp_path) == {}


@pytest.mark.parametrize("back", [2.0, 3600.0, 1e8])
def test_a_clock_that_goes_back(tmp_path, back):
    with SummaryWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=1e9 + step - back * (step >= 50))
    finding = found(tmp_path)["GL203"]
    assert finding.steps == (50, 50)
    assert finding.evidence["seconds"] == back - 1


def test_small_corrections_of_a_clock_are_left_alone(tmp_path):
    jitter = np.random.default_rng(0).uniform(-0.05, 0.05, 1000)
    with SummaryWriter(tmp_path) as writer:
        for step, shift in enumerate(jitter.tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=1e9 + 0.01 * step + shift)
    assert found(tmp_path) == {}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("points", [40, 300, 3000])
@pytest.mark.parametrize(("secs", "gap"), [(1.0, 60.0), (0.5, 600.0), (30.0, 7200.0)])
def test_a_stall(tmp_path, points, secs, gap, seed):
    rng = np.random.default_rng(seed)
    at = int(rng.uniform(0.2, 0.9) * points)
    between = secs * np.exp(0.3 * rng.standard_normal(points))
    between[at] = gap
    times = 1e9 + np.cumsum(between)
    with SummaryWriter(tmp_path) as writer:
        for step, time in enumerate(times.tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    codes = found(tmp_path)
    assert codes["GL204"].steps == (at - 1, at)
    assert codes["GL204"].evidence["seconds"] == pytest.approx(gap)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("every", [7, 50, 250])
def test_checkpoints_are_no_stalls(tmp_path, every, seed):
    rng = np.random.default_rng(seed)
    between = 0.2 * np.exp(0.5 * rng.standard_normal(1000))
    between[every::every] += 45.0
    with SummaryWriter(tmp_path) as writer:
        for step, time in enumerate((1e9 + np.cumsum(between)).tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    assert found(tmp_path) == {}


def test_the_night_between_two_sessions_is_no_stall(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(100, 200), suffix=".1", start=1e9 + 50_000)
    assert "GL204" not in found(tmp_path)


@pytest.mark.parametrize("every", [1, 10])
def test_missing_steps(tmp_path, every):
    steps = [step for step in range(0, 200 * every, every) if not 50 * every <= step < 70 * every]
    log(tmp_path, steps)
    finding = found(tmp_path)["GL205"]
    assert finding.evidence["missing"] == 20
    assert finding.steps == (50 * every, 69 * every)


def test_a_change_of_the_logging_interval_misses_nothing(tmp_path):
    log(tmp_path, [*range(50), *range(50, 1000, 10)])
    assert found(tmp_path) == {}


def test_the_words_of_restarts(tmp_path):
    def said(name, starts):
        for number, start in enumerate([0, *starts]):
            begin = 1e9 + 500 * number
            log(tmp_path / name, range(start, start + 60), suffix=f".{number}", purge=start or None, start=begin)
        return found(tmp_path / name)["GL206"].message

    assert said("once", [50]) == "restarted at step 50; 10 points of loss were superseded"
    assert said("often", [50, 30, 60]) == "restarted 3 times, first at step 50; 120 points of loss were superseded"
    assert said("last", [59]) == "restarted at step 59; 1 point of loss was superseded"
    assert said("next", [60]) == "restarted at step 60; no points of loss were superseded"


def test_the_words_of_steps(tmp_path):
    values = iter(range(99))
    log(tmp_path / "twice", [0, 1, 1, 2, 2, 3, 3, 4], value=lambda _: next(values))
    assert found(tmp_path / "twice")["GL202"].message == (
        "loss: step 1 was logged more than once, with different values; 2 other steps likewise"
    )
    log(tmp_path / "gap", [*range(50), *range(51, 99)])
    assert found(tmp_path / "gap")["GL205"].message == (
        "loss: of points that are logged every step, 1 is missing, the first after step 49"
    )


def test_the_words_of_clocks(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(20):
            time = float("nan") if step in {4, 7} else 1e9 + 9 * step - 60 * (step > 10) - 90 * (step > 15)
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    findings = audit(tmp_path, EVERYTHING).findings
    assert [(finding.message, finding.steps, finding.count) for finding in findings] == [
        ("loss: the wall time of step 4 is not finite: nan; 1 other point likewise", (4, 7), 2),
        ("loss: the wall time goes back by up to 81 s, 2 times", (11, 16), 2),
    ]


def test_the_words_of_damage(tmp_path):
    path = log(tmp_path, range(20))
    damage(path, 130, b"\xff")
    damage(path, -10, b"\xff")
    assert re.fullmatch(
        re.escape(f"{path}: the data of record ") + r"\d, at offset \d+, does not match its checksum; 1 more like it",
        found(tmp_path)["GL102"].message,
    )
