"""Points by number: the same as counting them one by one."""

from collections import Counter as Count

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summaries.tools.rewriting.points import Counter, grown


@given(st.lists(st.lists(st.integers(0, 5), max_size=20)))
def test_numbers(stretches):
    counter, seen = Counter(), Count()
    for stretch in stretches:
        expected = []
        for tag in stretch:
            expected.append(seen[tag])
            seen[tag] += 1
        assert counter.numbers(np.array(stretch, np.int64), 6).tolist() == expected
    assert counter.counts[:6].tolist() == [seen[tag] for tag in range(6)] if stretches else not len(counter.counts)


def test_growing_keeps_what_is_there():
    assert grown(np.array([1, 2]), 3, 7).tolist() == [1, 2, 7, 7]
    assert grown(np.array([1, 2]), 2, 7).tolist() == [1, 2]
