"""GL6xx: a run beside one run, or several, of a baseline."""

import numpy as np
import pytest
from labelled import healthy
from labelled import runs as labelled

from summaries import SummaryWriter, audit
from summaries.auditing.config import Config
from summaries.auditing.engine import audit_run

SEEDS = range(10)


def made(seed, points, noise, *, worse=1.0, slower=1.0):
    rng = np.random.default_rng(seed)
    run = labelled.as_run(rng, healthy.plain(rng, points, noise))
    (series,) = run.scalars.values()
    series.value[:] *= worse
    series.wall_time[:] = labelled.START + (series.wall_time - labelled.START) * slower
    return run


def codes(run, *baseline):
    findings = audit_run("run", run, Config(select=("GL6",)), baseline).findings
    return [finding.code for finding in findings]


@pytest.mark.parametrize("others", [1, 4])
@pytest.mark.parametrize(("points", "noise"), labelled.SIZES)
def test_another_seed_is_no_finding(points, noise, others):
    baseline = [made(100 + seed, points, noise) for seed in range(others)]
    assert [codes(made(seed, points, noise), *baseline) for seed in SEEDS] == [[]] * len(SEEDS)


@pytest.mark.parametrize("others", [1, 4])
@pytest.mark.parametrize(("points", "noise"), labelled.SIZES)
def test_a_worse_loss(points, noise, others):
    baseline = [made(100 + seed, points, noise) for seed in range(others)]
    worse = 1.2 + 4 * noise
    assert [codes(made(seed, points, noise, worse=worse), *baseline) for seed in SEEDS] == [["GL601"]] * len(SEEDS)


@pytest.mark.parametrize(("points", "worse"), [(200, 1.5), (1000, 1.25)])
def test_a_worse_loss_beside_strong_noise(points, worse):
    """The last tenth alone does not tell."""
    for seed in SEEDS:
        baseline = [made(100 * seed + other, points, 0.2) for other in (1, 2, 3)]
        assert codes(made(seed, points, 0.2, worse=worse), *baseline) == ["GL601"]


def test_a_loss_that_is_worse_in_the_end():
    run = made(0, 1000, 0.05)
    run.scalars["train/loss"].value[900:] *= 1.5
    assert codes(run, *(made(seed, 1000, 0.05) for seed in (1, 2, 3))) == ["GL601"]


@pytest.mark.parametrize("slower", [1.4, 10.0])
@pytest.mark.parametrize("points", [100, 2000])
def test_slower_steps(points, slower):
    found = [codes(made(seed, points, 0.05, slower=slower), made(100, points, 0.05)) for seed in SEEDS]
    assert found == [["GL602"]] * len(SEEDS)


def test_missing_tags(tmp_path):
    for run, tags in (("base/1", "abc"), ("base/2", "abcd"), ("new", "ad")):
        with SummaryWriter(tmp_path / run) as writer:
            for tag in tags:
                writer.add_scalar(tag, 1.0, 0)
            writer.add_text("note", "text", 0)
    report = audit(tmp_path / "new", Config(), baseline=tmp_path / "base")
    assert [(f.code, f.tag, f.count, f.message) for f in report.findings] == [
        ("GL603", "b", 2, "b and 1 more of the baseline's tags are missing")
    ]
    assert audit(tmp_path / "base/1", Config(), baseline=tmp_path / "base").findings == ()


def test_a_run_is_not_compared_with_what_it_has_not(tmp_path):
    nothing = labelled.as_run(np.random.default_rng(0), {"other": (np.arange(3), np.ones(3))})
    assert codes(nothing, made(0, 100, 0.0)) == ["GL603"]


def test_a_run_that_is_the_baseline_again():
    run, other, same = made(0, 100, 0.1), made(1, 100, 0.1), made(0, 100, 0.1)
    config = Config(select=("GL604",))
    assert audit_run("run", run, config, [other, same]).findings == ()  # the same file: it is in the baseline itself
    run.files = ("another",)
    (finding,) = audit_run("run", run, config, [other, same]).findings
    assert finding.message == "train/loss is the same as in the baseline, bit for bit at all 100 points"
