"""Works side by side: the order of their steps, their results, and an error in one of them."""

import pytest

from summaries.execution.turns import groups, in_turns


def test_works_take_turns_until_each_is_done():
    done = []

    def work(name, steps):
        for step in range(steps):
            done.append((name, step))
            yield
        return name

    assert in_turns([work("a", 1), work("b", 0), work("c", 3)]) == ["a", "b", "c"]
    assert done == [("a", 0), ("c", 0), ("c", 1), ("c", 2)]
    assert in_turns([]) == []


def test_an_error_ends_all():
    ended = []

    def work(name):
        try:
            yield
            if name == "b":
                raise ValueError(name)
            yield
        finally:
            ended.append(name)

    works = [work(name) for name in "abc"]
    with pytest.raises(ValueError, match=r"^b$"):
        in_turns(works)
    for one in works:
        one.close()
    assert sorted(ended) == ["a", "b", "c"]


def test_groups_keep_the_order_and_their_bounds():
    sizes = [3 << 20, *[1000] * 100, 700_000, 700_000, 0]
    cut = list(groups(sizes, int))
    assert [size for group in cut for size in group] == sizes
    assert [len(group) for group in cut] == [1, 64, 37, 2]
    assert list(groups([], int)) == []
