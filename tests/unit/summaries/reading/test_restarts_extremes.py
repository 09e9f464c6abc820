"""Which points stand at the highest step that there is, 2⁶³ - 1, and at the lowest."""

import numpy as np
import pytest

from summaries import Standing
from summaries.reading.series import Series

TOP, BOTTOM = 2**63 - 1, -(2**63)
STANDS, RESTARTED, AGAIN = Standing.STANDS, Standing.SESSION_RESTARTED, Standing.WRITTEN_AGAIN

# (steps, (points before, step) of each session start, what stands)
CASES = {
    "one point at the top": ([TOP], [], [STANDS]),
    "the last at the top": ([0, 1, TOP], [], [STANDS, STANDS, STANDS]),
    "the top twice": ([TOP, TOP], [], [AGAIN, STANDS]),
    "one below the top, and the top": ([TOP - 1, TOP], [], [STANDS, STANDS]),
    "one below the top, and a restart at the top": ([TOP - 1], [(1, TOP)], [STANDS]),
    "a lower step after the top": ([0, TOP, 5], [], [STANDS, AGAIN, STANDS]),
    "the step below the top after it": ([TOP, TOP - 1], [], [AGAIN, STANDS]),
    "a restart before the top": ([0, TOP], [(1, 5)], [STANDS, STANDS]),
    "a restart that leaves only the top": ([5, TOP], [(1, 5)], [RESTARTED, STANDS]),
    "a restart at the top, before it": ([5, TOP], [(1, TOP)], [STANDS, STANDS]),
    "a restart at the top, after it": ([5, TOP], [(2, TOP)], [STANDS, RESTARTED]),
    "a restart below the top, after it": ([5, TOP], [(2, 6)], [STANDS, RESTARTED]),
    "a restart before every point": ([5, TOP], [(0, 0)], [STANDS, STANDS]),
    "a restart at the bottom": ([BOTTOM, TOP], [(2, BOTTOM)], [RESTARTED, RESTARTED]),
    "the bottom": ([BOTTOM, 0, TOP], [], [STANDS, STANDS, STANDS]),
    "no points": ([], [(0, 0)], []),
}


@pytest.mark.parametrize(("steps", "restarts", "want"), CASES.values(), ids=CASES)
def test_what_stands(steps, restarts, want):
    step = np.array(steps, np.int64)
    series = Series("loss", step, np.zeros(len(step)), np.arange(float(len(step))), restarts)
    assert series.standing.tolist() == want
    assert series.latest().value.tolist() == [float(i) for i, code in enumerate(want) if code == STANDS]
