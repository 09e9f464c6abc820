"""The examples do what they say, and tensorboard's two readers read all that they write."""

import os
from functools import cache

import pytest
from helpers import CORE_TYPES, ROOT, assert_learns_if_clipped, environment_of, event_files, run
from interop.tensorboard_readers import by_accumulator, by_server

from summaries import Severity, audit, read_run, summary_iterator
from summaries.auditing.config import Config

RUNS = ("clipped", "unclipped")
# The unclipped run is chaotic: every kernel and every seed give another one. Each kernel has a seed of its own here; a
# fifth one is that of the command `demo`, whose test looks at what it learns, too.
CORES_AND_SEEDS = [(core_type, seed) for seed, core_type in enumerate(CORE_TYPES)]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """core type, seed → the runs of examples/sequential_digits.py in its quick form, and what it printed."""

    @cache
    def made(core_type, seed):
        logdir = tmp_path_factory.mktemp("digits") / "runs"
        options = ("--quick", "--seed", seed, "--logdir", logdir)
        return logdir, run(ROOT / "examples/sequential_digits.py", *options, env=environment_of(core_type))

    return made


@pytest.fixture(params=CORES_AND_SEEDS, ids=lambda pair: f"{pair[0] or 'own'}-{pair[1]}")
def any_digits(demo, request):
    """The runs on any processor, from any seed."""
    return demo(*request.param)


@pytest.fixture
def digits(demo):
    """The runs on this processor."""
    return demo("", 0)


def points_of(logdir):
    """{run: {tag: [(step, wall time, value)]}}, as the files have it."""
    runs = {}
    for name in RUNS:
        (path,) = event_files(logdir / name)
        tags = runs.setdefault(name, {})
        for event in summary_iterator(path):
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    tags.setdefault(value.tag, []).append((event.step, event.wall_time, value.simple_value))
    return runs


def test_clipping_learns_and_the_other_does_not(any_digits):
    assert_learns_if_clipped(any_digits[0])


def test_tags(digits):
    runs = points_of(digits[0])
    always = {"train/loss", "test/accuracy", "train/learning_rate", "gradients/global_norm", "gradients/nonfinite"}
    assert always <= set(runs["unclipped"])
    clipping = {"clipped_global_norm", "clip_norm", "clipped", "clipped_fraction"}
    assert set(runs["clipped"]) - set(runs["unclipped"]) == {f"gradients/{name}" for name in clipping}
    variables = [f"recurrent/{name}" for name in ("input", "state", "bias")] + ["readout/weights", "readout/bias"]
    for head in ("gradients/norm", "gradients/zero_fraction", "weights/norm", "updates/norm", "updates/ratio"):
        assert {f"{head}/{variable}" for variable in variables} <= set(runs["unclipped"])
    steps = [step for step, _, _ in runs["clipped"]["train/loss"]]
    assert steps == list(range(1, len(steps) + 1))
    assert [step for step, _, _ in runs["clipped"]["gradients/global_norm"]] == steps


def test_both_readers_read_every_point(digits):
    logdir = digits[0]
    expected = points_of(logdir)

    def finished(runs):
        return runs == expected or lengths(runs) == lengths(expected)

    def lengths(runs):
        return {(run, tag): len(points) for run, tags in runs.items() for tag, points in tags.items()}

    assert by_accumulator(logdir) == expected
    assert by_server(logdir, finished) == expected


def test_the_audit_tells_them_apart(any_digits):
    logdir, out = any_digits
    clipped, unclipped = audit(logdir, Config()).runs
    true = {"GL203", "GL204"} if "STRANGE_CLOCK_LEAP" in os.environ else set()  # `make strange` has clocks that leap
    assert {finding.code for finding in clipped.findings if finding.severity >= Severity.WARNING} <= true
    assert "GL304" in {finding.code for finding in unclipped.findings if finding.severity is Severity.ERROR}
    assert "GL304 loss-diverges" in out


def test_it_says_what_happened(any_digits):
    logdir, out = any_digits
    assert "What the event files say" in out
    assert f"tensorboard --logdir {logdir}" in out
    scalars = {name: read_run(logdir / name).scalars for name in RUNS}
    for name in RUNS:
        (row,) = (
            line for line in out.splitlines() if line.startswith(("│ ", "| ")) and line.strip("│| ").startswith(name)
        )
        norms, ratios = (scalars[name][tag].value for tag in ("gradients/global_norm", "updates/ratio/recurrent/state"))
        assert f" {norms.max():.1f} " in row
        assert f" {ratios.max():.0%} " in row
