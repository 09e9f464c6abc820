"""A run has one sparkline, whoever prints it: drawn from all points, however finely curves are thinned."""

import io

import numpy as np
import pytest

from summaries import SummaryWriter, audit, cli
from summaries.auditing.report import text
from summaries.presenting.sparklines import sparkline
from summaries.presenting.terminal import console

N = 5000
LOSS = "█▇▇▇▆▆▅▅▄▃▃▃▂▂▁▁"


@pytest.fixture
def runs(tmp_path):
    """A run whose spikes would show in the means of what thinning leaves."""
    rng = np.random.default_rng(0)
    with SummaryWriter(tmp_path / "runs/one") as writer:
        for step, noise in enumerate(rng.standard_normal(N)):
            spike = 40 * (step % 50 == 0 and step < N // 2)
            writer.add_scalar("train/loss", 5 * (1 - step / N) + 0.1 * noise + spike, step)
            writer.add_scalar("gradients/global_norm", 1 + step / N, step)
    return tmp_path / "runs"


def test_the_demo_and_the_command_line_print_the_same_lines(runs, capsys):
    printed = io.StringIO()
    text.show(audit(runs), console(printed))
    assert cli.main(["audit", str(runs)]) in {0, 1}
    row, same = (out.splitlines()[1].split() for out in (printed.getvalue(), capsys.readouterr().out))
    assert row == same
    assert row[:5] == ["one", "5,000", "10,000", LOSS, "▁▁▂▂▃▃▄▄▅▅▆▆▇▇██"]


@pytest.mark.parametrize("stretches", [1, 50, 1000])
def test_thinning_leaves_the_line_alone(runs, stretches):
    from summaries.auditing import discovery, engine
    from summaries.auditing.config import Config

    (run,) = engine.audit_runs(discovery.runs_below(str(runs)), Config(), stretches=stretches)
    (loss,) = (curve for curve in run.curves if curve.role == "loss")
    assert sparkline(loss.averages) == LOSS
