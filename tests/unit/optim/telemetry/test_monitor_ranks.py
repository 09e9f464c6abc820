"""GradientMonitor where a rank does not know all, or gradients are not as they were computed."""

import numpy as np
import pytest
from optimizing.clipped import NORM5

from optim import GradientMonitor
from summaries import SummaryWriter, read_run


def values(logdir):
    return {tag: series.value.tolist() for tag, series in read_run(logdir).scalars.items()}


def test_scaled_gradients(logdir):
    """Norms and histograms are of what they were before."""
    with SummaryWriter(logdir) as writer:
        report = GradientMonitor(writer, 1, 1).observe(1, {"w": NORM5 * 1024}, {"w": NORM5}, 10.0, scale=1024)
    assert (report.global_norm, report.clipped) == (5.0, False)
    found = values(logdir)
    assert (found["gradients/norm/w"], found["weights/norm/w"]) == ([5], [5])
    histogram = read_run(logdir).histograms["histograms/gradients/w"][0]
    assert histogram[:, 1].max() < 5


def test_clipped_gradients_can_be_scaled_back(logdir):
    with SummaryWriter(logdir) as writer:
        report = GradientMonitor(writer).observe(1, {"w": NORM5 / 5}, clip_norm=1.0, global_norm=5.0, scale=1 / 5)
    assert (report.global_norm, report.clipped, report.clipped_global_norm) == (5.0, True, 1.0)
    assert values(logdir)["gradients/norm/w"] == pytest.approx([5])


@pytest.mark.parametrize(("norm", "nonfinite"), [(5.0, 0), (np.nan, 1)])
def test_the_norm_alone(logdir, norm, nonfinite):
    """As DeepSpeed gives it."""
    with SummaryWriter(logdir) as writer:
        report = GradientMonitor(writer).observe(1, {}, clip_norm=1.0, global_norm=norm)
    assert report.nonfinite == nonfinite
    assert "gradients/clipped" in values(logdir)
    assert not [tag for tag in values(logdir) if tag.startswith("gradients/norm/")]


def test_reports_that_were_measured_elsewhere(logdir):
    with SummaryWriter(logdir) as writer:
        monitor = GradientMonitor(writer)
        first = monitor.observe(1, {"w": NORM5, "b": NORM5 * 0})
        second = monitor.observe(2, first.variables)
    assert second.global_norm == first.global_norm
    assert all(found[0] == found[1] for tag, found in values(logdir).items() if "per_sec" not in tag)


def test_a_rank_without_a_writer_measures(logdir):
    """And logs its own part where it is told to."""
    with SummaryWriter(logdir / "rank=1") as own:
        monitor = GradientMonitor(None, 2, rank_writer=own)
        reports = [monitor.observe(step, {"w": NORM5}, clip_norm=1.0) for step in (1, 2)]
    assert [report.global_norm for report in reports] == [5.0, 5.0]
    assert values(logdir / "rank=1")["gradients/norm/w"] == [5]
    assert read_run(logdir / "rank=1").scalars["gradients/global_norm"].step.tolist() == [2]


def test_a_scale_of_words(logdir):
    with SummaryWriter(logdir) as writer, pytest.raises(TypeError, match=r"^scale must be a number, got 'large'$"):
        GradientMonitor(writer).observe(1, {"w": NORM5}, scale="large")
