"""How many runs are audited at a time, and where."""

import pytest

from summaries.auditing.discovery import RunFiles
from summaries.auditing.parallel import jobs_for


@pytest.mark.parametrize(
    ("sizes", "jobs", "processes", "wanted"),
    [
        ([], None, True, (1, False)),
        ([5_000] * 2, None, True, (1, False)),
        ([5_000] * 2, 8, True, (2, True)),  # as is asked for
        ([5_000] * 2, 8, False, (2, False)),
        ([500_000] * 500, None, True, (1, False)),
        ([500_000] * 2000, None, True, (4, True)),  # rules take long, and hold the GIL
        ([500_000] * 2000, None, False, (1, False)),
        ([100 << 20] * 10, None, True, (4, False)),  # scanning takes long, without it
        ([100 << 20] * 3, None, False, (3, False)),
    ],
)
def test_where_runs_are_worked_on(sizes, jobs, processes, wanted, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    runs = [RunFiles(str(i), (), size) for i, size in enumerate(sizes)]
    assert jobs_for(runs, jobs, processes=processes) == wanted
