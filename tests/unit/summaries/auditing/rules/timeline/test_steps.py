"""GL2xx, on steps and times: restarts, conflicts, clocks, missing steps."""

import numpy as np
import pytest
from audits.audited import found_in, log

from summaries import Event, SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.wire.records import frame


@pytest.mark.parametrize("back", [2, 7, 60])
def test_steps_that_go_back(tmp_path, back):
    log(tmp_path, [*range(100), *range(100 - back, 150)])
    finding = found_in(tmp_path)["GL201"]
    assert (finding.tag, finding.count) == ("loss", 1)
    assert finding.message == (
        f"loss: the step goes back from 99 to {100 - back} within a file; TensorBoard draws the parts over one another"
    )
    assert finding.steps == (100 - back, 99)


def test_a_marked_restart_is_a_note(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(60, 150), suffix=".1", start=1e9 + 500, purge=60, value=lambda step: 2 / (1 + step))
    codes = found_in(tmp_path)
    assert set(codes) == {"GL206"}
    assert codes["GL206"].message == "restarted at step 60; 40 points of loss were superseded"


def test_a_mark_above_where_the_steps_go_is_no_mark_of_that(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(60, 150), suffix=".1", start=1e9 + 500, purge=80)
    assert {"GL201", "GL206"} <= set(found_in(tmp_path))


def test_going_on_in_another_file_is_a_note(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(100, 150), suffix=".1", start=1e9 + 5000)
    assert set(found_in(tmp_path)) == {"GL206"}


@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_conflicting_steps(tmp_path, share):
    twice = set(np.random.default_rng(0).choice(100, int(share * 100), replace=False).tolist())
    steps = [step for step in range(100) for _ in range(1 + (step in twice))]
    with SummaryWriter(tmp_path) as writer:
        for i, step in enumerate(steps):
            writer.add_scalar("loss", 1 / (2 + i), step, walltime=1e9 + i)
    finding = found_in(tmp_path)["GL202"]
    assert finding.count == len(twice)
    assert finding.steps == (min(twice), max(twice))


def test_the_same_value_twice_is_no_conflict(tmp_path):
    log(tmp_path, [step for step in range(100) for _ in range(2)])
    assert found_in(tmp_path) == {}


@pytest.mark.parametrize("back", [2.0, 3600.0, 1e8])
def test_a_clock_that_goes_back(tmp_path, back):
    with SummaryWriter(tmp_path) as writer:
        for step in range(100):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=1e9 + step - back * (step >= 50))
    finding = found_in(tmp_path)["GL203"]
    assert finding.steps == (50, 50)
    assert finding.evidence["seconds"] == back - 1


def test_small_corrections_of_a_clock_are_left_alone(tmp_path):
    jitter = np.random.default_rng(0).uniform(-0.05, 0.05, 1000)
    with SummaryWriter(tmp_path) as writer:
        for step, shift in enumerate(jitter.tolist()):
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=1e9 + 0.01 * step + shift)
    assert found_in(tmp_path) == {}


@pytest.mark.parametrize("every", [1, 10])
def test_missing_steps(tmp_path, every):
    steps = [step for step in range(0, 200 * every, every) if not 50 * every <= step < 70 * every]
    log(tmp_path, steps)
    finding = found_in(tmp_path)["GL205"]
    assert finding.evidence["missing"] == 20
    assert finding.steps == (50 * every, 69 * every)


def test_of_a_single_step_nothing_is_missing(tmp_path):
    values = iter(range(12))
    log(tmp_path, [7] * 12, value=lambda _: next(values))
    found = found_in(tmp_path)
    assert "GL202" in found, "the run could be audited"
    assert "GL205" not in found


def test_a_change_of_the_logging_interval_misses_nothing(tmp_path):
    log(tmp_path, [*range(50), *range(50, 1000, 10)])
    assert found_in(tmp_path) == {}


def test_the_words_of_restarts(tmp_path):
    def said(name, starts):
        for number, start in enumerate([0, *starts]):
            begin = 1e9 + 500 * number
            log(tmp_path / name, range(start, start + 60), suffix=f".{number}", purge=start or None, start=begin)
        return found_in(tmp_path / name)["GL206"].message

    assert said("once", [50]) == "restarted at step 50; 10 points of loss were superseded"
    assert said("often", [50, 30, 60]) == "restarted 3 times, first at step 50; 120 points of loss were superseded"
    assert said("last", [59]) == "restarted at step 59; 1 point of loss was superseded"
    assert said("next", [60]) == "restarted at step 60; no points of loss were superseded"


def test_the_words_of_steps(tmp_path):
    values = iter(range(99))
    log(tmp_path / "twice", [0, 1, 1, 2, 2, 3, 3, 4], value=lambda _: next(values))
    assert found_in(tmp_path / "twice")["GL202"].message == (
        "loss: step 1 was logged more than once, with different values; the same for 2 other steps"
    )
    log(tmp_path / "gap", [*range(50), *range(51, 99)])
    assert found_in(tmp_path / "gap")["GL205"].message == (
        "loss: points are logged every step, but that of step 50 is missing"
    )


def test_the_words_of_clocks(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for step in range(20):
            time = float("nan") if step in {4, 7} else 1e9 + 9 * step - 60 * (step > 10) - 90 * (step > 15)
            writer.add_scalar("loss", 1 / (1 + step), step, walltime=time)
    findings = audit(tmp_path, Config()).findings
    assert [(finding.message, finding.steps, finding.count) for finding in findings] == [
        ("loss: the wall time of step 4 is not finite: nan; the same for 1 other point", (4, 7), 2),
        ("loss: the wall time goes back by up to 81 s, 2 times", (11, 16), 2),
    ]


def test_the_words_of_wall_times_of_events_without_scalars(tmp_path):
    """Of these the first is told; where points have such times, those."""
    events = [Event(wall_time=1e9, file_version="brain.Event:2")]
    events += [Event(wall_time=wall_time, step=1, log_message={}) for wall_time in (1e9, float("inf"), float("nan"))]
    path = tmp_path / "a.tfevents"
    path.write_bytes(b"".join(frame(event.SerializeToString()) for event in events))
    finding = found_in(tmp_path)["GL203"]
    assert finding.message == (f"{path}: the wall time of record 2 is not finite: inf; the same for 1 other record")
    assert (finding.count, finding.evidence) == (2, {"got": "inf", "file": str(path), "record": 2})


def test_an_unmarked_restart_in_another_file_is_one_finding(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, range(60, 150), suffix=".1", start=1e9 + 500, value=lambda step: 2 / (1 + step))
    (finding,) = audit(tmp_path, Config()).findings
    assert (finding.code, finding.severity.name) == ("GL201", "WARNING")
    assert finding.message == (
        "loss: the step goes back from 99 to 60, where another file begins"
        "; two sessions overlap, and TensorBoard draws both"
    )


@pytest.mark.parametrize("tag", ["epoch", "hp_metric", "time/fps", "train/n_updates"])
def test_the_steps_of_counters_and_clocks_are_not_judged(tmp_path, tag):
    log(tmp_path, [*range(50), *range(20), 3, 3, 3], tag=tag, value=np.sin)
    assert found_in(tmp_path) == {}


def test_rewards_against_elapsed_seconds_are_not_judged(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for i in range(60):
            writer.add_scalar("Train/mean_reward", i, i, walltime=1e9 + i)
            writer.add_scalar("Train/mean_reward/time", i, i // 3, walltime=1e9 + i)
    assert found_in(tmp_path) == {}


def test_a_test_of_the_best_checkpoint_is_no_restart(tmp_path):
    log(tmp_path, range(100), suffix=".0")
    log(tmp_path, [99], suffix=".1", start=1e9 + 200, tag="test_loss")
    log(tmp_path, [40], suffix=".2", start=1e9 + 300, tag="test_loss", value=lambda _: 0.1)
    assert "GL201" not in found_in(tmp_path)


def test_values_written_out_of_order_are_a_note(tmp_path):
    steps = [10 * i + back for i in range(60) for back in (9, 2, 5)]
    log(tmp_path, steps, tag="episode_reward")
    finding = found_in(tmp_path)["GL201"]
    assert finding.severity.name == "INFO"
    assert "as where values are written out of order, 59 times" in finding.message


def test_gradient_accumulation_is_a_note(tmp_path):
    values = iter(range(400))
    log(tmp_path, [step for step in range(100) for _ in range(4)], value=lambda _: 1 / (1 + next(values)))
    assert {code: one.severity.name for code, one in found_in(tmp_path).items()} == {"GL202": "INFO"}


def test_files_are_read_in_the_order_of_their_numbers(tmp_path):
    for number in (7, 8, 9, 10, 11):
        log(tmp_path, [0, 1], suffix=f".{number}", start=1e9 + 10 * number, tag=f"test_{number}")
    for number in (7, 8, 9, 10, 11):
        log(tmp_path, [number], suffix=f".again.{number}", start=1e9 + 100 + 10 * number)
    names = sorted(tmp_path.iterdir())
    for path in names:  # as of one second, one process
        path.rename(
            tmp_path / f"events.out.tfevents.1.host.{path.name.partition('.')[2].split('.')[-1]}-{path.name[-20:]}"
        )
    assert "GL203" not in found_in(tmp_path)


def test_many_short_runs_in_one_directory_are_restarts(tmp_path):
    for fold in range(6):
        log(tmp_path / "files", range(8), suffix=f".{fold}", start=1e9 + 500 * fold)
    log(tmp_path / "file", [*range(8)] * 6)
    found = {run.name: run.findings[0] for run in audit(tmp_path, Config()).runs}
    assert [found[name].severity.name for name in ("files", "file")] == ["WARNING", "WARNING"]
    assert found["files"].message == (
        "loss: the step goes back from 7 to 0, where another file begins, 5 times"
        "; two sessions overlap, and TensorBoard draws both"
    )
    assert (
        found["file"].message
        == "loss: the step goes back from 7 to 0 within a file, 5 times; TensorBoard draws the parts over one another"
    )


def test_a_step_that_is_logged_twice_was_not_superseded_by_a_restart(tmp_path):
    log(tmp_path, [*range(50), 49], suffix=".0")
    log(tmp_path, [*range(50, 90), 89], start=2e9, suffix=".1")
    assert found_in(tmp_path)["GL206"].message == "restarted at step 50; no points of loss were superseded"
    log(tmp_path, range(80, 99), start=3e9, suffix=".2", purge=80)
    assert found_in(tmp_path)["GL206"].message.endswith("; 11 points of loss were superseded")
