"""GitHub's annotations: one line a finding, and hostile names."""

from audits.reports import HOSTILE, small

from summaries.auditing.report.github import github


def test_github():
    lines = github(small("a,b", message="50% of\nthem")).splitlines()
    assert lines == [
        "::error title=GL301 non-finite-loss in a%2Cb::50%25 of\\nthem (steps 71 to 99)",
        "::notice title=GL107 no-events in a%2Cb::nothing was logged",
    ]


def test_hostile_names_are_inert_in_annotations():
    out = github(small(HOSTILE, HOSTILE, HOSTILE))
    assert len(out.splitlines()) == 2
    assert all(line.startswith(("::error title=", "::notice title=")) for line in out.splitlines())
    assert all(line.count("::") >= 2 and "%0A" not in line.replace("%250A", "") for line in out.splitlines())
