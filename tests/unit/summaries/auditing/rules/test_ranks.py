"""GL61x: the ranks of one job, healthy and faulty, at twenty seeds."""

import numpy as np
import pytest
from labelled import jobs
from labelled import runs as labelled
from labelled.side_by_side import SEEDS, seeds_at

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_job

CONFIG = Config()  # what it works out of itself is kept in it


def found(maker, points, noise, seed, config=None, **options):
    rng = np.random.default_rng(seed)
    made = maker(rng, points, noise)
    one, columns = made if isinstance(made, tuple) else (None, made)
    runs = jobs.job(rng, points, columns, **options)
    return one, audit_job(runs, config or CONFIG)


@pytest.mark.parametrize(("points", "noise"), labelled.SIZES)
@pytest.mark.parametrize("maker", jobs.HEALTHY, ids=lambda maker: maker.__name__)
def test_a_healthy_job_is_left_alone(maker, points, noise):
    findings = {seed: found(maker, points, noise, seed)[1] for seed in seeds_at(points, noise)}
    assert {seed: one for seed, one in findings.items() if one} == {}


@pytest.mark.parametrize(("points", "noise"), labelled.SIZES)
@pytest.mark.parametrize(("code", "maker"), jobs.FAULTS, ids=lambda value: getattr(value, "__name__", value))
def test_a_fault_is_found_on_the_rank_that_has_it(code, maker, points, noise):
    for seed in seeds_at(points, noise):
        one, findings = found(maker, points, noise, seed)
        assert [(f.code, f.run) for f in findings] == [(code, f"job/rank={one}")], seed


@pytest.mark.parametrize("points", [100, 2000])
def test_a_straggler(points):
    for seed in SEEDS:
        _, findings = found(jobs.own_batches, points, 0.1, seed, secs={3: 1.3})
        assert [(f.code, f.run) for f in findings] == [("GL613", "job/rank=3")], seed


def test_what_is_said():
    (odd,) = found(jobs.rate_of_one, 100, 0.0, 1)[1]
    assert odd.message == (
        "train/learning_rate is 0.00202 at step 0, on most of the 8 ranks 0.00101; it differs at 100 of 100 steps"
    )
    (parted,) = found(jobs.all_part, 100, 0.0, 1)[1]
    assert parted.message.startswith("train/loss is not the same on all 8 ranks from step 50 on: it is 0.4")
    (norm,) = found(jobs.norm_off(0.5), 400, 0.0, 1)[1]
    assert norm.message.endswith(
        "times as large as on the other ranks, which is √8: on 8 ranks, its gradient is not reduced like theirs"
    )
    (nan,) = found(jobs.nan_on_one_first, 100, 0.0, 1)[1]
    assert nan.message == ("train/loss is nan at step 50 here, first of 8 ranks; on the others it is so later, on 7")
    (slow,) = found(jobs.reduced, 100, 0.0, 1, secs={3: 1.3})[1]
    assert slow.message.startswith("it takes ")
    assert ", the other ranks " in slow.message
    (worse,) = found(jobs.worse_data, 400, 0.0, 1)[1]
    assert " that of the other 7 ranks, which differ by " in worse.message


def test_two_ranks_with_different_rates():
    rates = {0: 1e-3, 1: 2e-3}
    runs = jobs.job(np.random.default_rng(0), 50, lambda rank: {"lr": np.full(50, rates[rank])}, ranks=2)
    (finding,) = audit_job(runs, CONFIG)
    assert (finding.code, finding.run) == ("GL611", "job/rank=0")
    assert finding.message == "lr is not the same on all 2 ranks from step 0 on: it is 0.001 to 0.002 there"


def test_few_points_and_few_ranks_say_nothing():
    runs = jobs.job(np.random.default_rng(0), 5, lambda rank: {"loss": np.full(5, 1.0 + rank)}, ranks=3)
    assert audit_job(runs, CONFIG) == ()


def logged(directory, names, rates):
    for name, rate in zip(names, rates, strict=True):
        with SummaryWriter(directory / name) as writer:
            for step in range(30):
                writer.add_scalar("learning_rate", rate, step, walltime=1e9 + step)
    return directory


def test_ranks_below_a_directory(tmp_path):
    report = audit(logged(tmp_path, ["a/rank=0", "a/rank=1", "a/rank=2", "b/rank=4", "b/rank=8"], [1, 1, 2, 3, 4]))
    assert [(f.code, f.run) for f in report.findings] == [("GL611", "a/rank=2")]


def test_names_of_ranks_are_configured(tmp_path):
    logged(tmp_path, ["host-a", "host-b", "host-c"], [1, 1, 2])
    assert audit(tmp_path).findings == ()
    found = audit(tmp_path, {"ranks": "host-[abc]"}).findings
    assert [(f.code, f.run) for f in found] == [("GL611", "host-c")]
    ignored = {"ranks": "host-[abc]", "per-run-ignores": {"host-c": ["GL611"]}}
    assert audit(tmp_path, ignored).findings == ()
