"""HTML for notebooks: whatever names and values are, there are only our elements, and the size is bounded."""

import numpy as np
from browser.html_seen import Seen
from hypothesis import given
from hypothesis import strategies as st

from optim import StepReport, VariableReports
from summaries import Failure, Finding, Report, RunReport, Runs, Series, Severity, SummaryWriter, read_run
from summaries.presenting.display import scalars_html
from summaries.presenting.markup import block, table

NAMES = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=200),
    st.text(st.sampled_from("<>&\"'`/!-= \x00\n\udcffa")),
)
VALUES = st.lists(st.floats(width=32), max_size=30)


@given(st.lists(st.tuples(NAMES, NAMES), max_size=5), NAMES)
def test_a_table_has_its_cells_and_no_other_markup(rows, more):
    seen = Seen(block(table(["a", "b"], rows, more)))
    assert seen.is_ours()
    assert [len(row) for row in seen.rows] == [2] * (len(rows) + 1)


@given(st.dictionaries(NAMES, VALUES, max_size=5))
def test_series_of_any_names_and_values(given_values):
    scalars = {
        tag: Series(tag, np.arange(len(value)), np.arange(float(len(value))), np.array(value, np.float64))
        for tag, value in given_values.items()
    }
    seen = Seen(scalars_html(scalars))
    assert seen.is_ours()
    assert len(seen.rows) == (len(scalars) + 1 if scalars else 0)
    for series in scalars.values():
        assert Seen(series._repr_html_()).is_ours()
        assert len(repr(series)) < 400


@given(NAMES, NAMES, NAMES, st.sampled_from(Severity))
def test_reports_of_any_names(run, tag, message, severity):
    finding = Finding("GL301", "non-finite-loss", severity, run, tag, (1, 2), message, {}, 1, (tag,) * 3)
    report = Report((RunReport(run, (run,), (finding,), failures=(Failure(run, tag, message),)),))
    assert Seen(report._repr_html_()).is_ours()
    assert len(report._repr_html_()) < 20_000
    assert max(len(repr(one)) for one in (report, *report.runs, *report.findings)) < 1000


@given(st.lists(NAMES, min_size=1, max_size=40), st.floats())
def test_steps_of_any_variables(names, norm):
    stats = np.tile([abs(norm), abs(norm), abs(norm), 1.0, 0.0], (len(names), 1))
    report = StepReport(1, norm, norm, variables=VariableReports(names, [1] * len(names), [], stats), loss=norm)
    seen = Seen(report._repr_html_())
    assert seen.is_ours()
    assert len(repr(report.variables)) < 400


def test_a_run_of_many_tags_is_cut(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for number in range(5000):
            writer.add_scalar(f"layer {number:04}/norm", number, 0)
    run = read_run(tmp_path)
    for text in (run._repr_html_(), run.scalars._repr_html_(), Runs({f"{i}": run for i in range(2000)})._repr_html_()):
        assert len(text) < 60_000
    seen = Seen(run._repr_html_())
    assert seen.lines == ["1 file, 5,000 tags, 5,000 scalars", "and 4,970 more tags with scalars"]
    assert len(seen.rows) == 31
    assert repr(run.scalars) == "Scalars(5000 tags: 'layer 0000/norm', 'layer 0001/norm' and 4998 others)"
