"""A step's report in a notebook: its numbers, and a row for each variable."""

import numpy as np
from browser.html_seen import Seen

from optim import GradientDescentOptimizer, StepReport, Variable, VariableReports

STATS = np.array([[25.0, 100.0, 1.0, 2.0, 0.0], [4.0, 9.0, 0.25, 0.0, 1.0]])


def test_a_step():
    report = StepReport(12, 0.001, 5.385, 1.0, True, 1, loss=0.25)
    seen = Seen(report._repr_html_())
    assert seen.rows == [
        ["step", "loss", "learning rate", "global norm", "clip norm", "not finite", ""],
        ["12", "0.25", "0.001", "5.385", "1", "1", "clipped"],
    ]
    assert Seen(StepReport(1, 0.5, skipped=True)._repr_html_()).rows[1] == ["1", "0.5", "skipped"]


def test_a_step_of_an_optimizer():
    v = Variable(np.ones(4), name="v")
    report = GradientDescentOptimizer(0.5).minimize(lambda: 4.0 * (v * v).mean())
    assert Seen(report._repr_html_()).rows[1][:3] == ["1", "4", "0.5"]
    assert len(repr(report)) < 200


def test_variables():
    variables = VariableReports(["w<b>", "bias"], [1200, 30], [], STATS)
    seen = Seen(StepReport(1, 0.5, variables=variables)._repr_html_())
    assert seen.rows[2:] == [
        ["variable", "size", "gradient norm", "", "weight norm", "update norm", "update / weight"],
        ["w<b>", "1,200", "5", "", "10", "1", "0.1"],
        ["bias", "30", "2", "", "3", "0.5", "0.1667"],
    ]
    assert 'width="96.0"' in StepReport(1, 0.5, variables=variables)._repr_html_()
    assert 'width="38.4"' in StepReport(1, 0.5, variables=variables)._repr_html_()
    assert repr(variables) == "VariableReports(2 variables: 'w<b>' and 'bias')"
    assert repr(VariableReports([], [], [], np.empty((0, 5)))) == "VariableReports(0 variables)"


def test_what_was_not_measured_is_empty():
    variables = VariableReports(["w"], [4], [], STATS[:1], has_weights=False, has_updates=False)
    assert Seen(StepReport(1, 0.5, variables=variables)._repr_html_()).rows[3][4:] == ["", "", ""]


def test_many_variables_are_cut():
    variables = VariableReports([f"v{i}" for i in range(3000)], [1] * 3000, [], np.tile(STATS[:1], (3000, 1)))
    text = StepReport(1, 0.5, variables=variables)._repr_html_()
    assert len(text) < 20_000
    assert Seen(text).lines == ["and 2,970 more variables"]
