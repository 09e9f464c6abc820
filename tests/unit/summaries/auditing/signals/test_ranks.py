"""The ranks of a job: which runs they are, and their points side by side."""

import numpy as np
import pytest
from labelled import runs as labelled

from summaries.auditing.signals.ranks import beside, jobs
from summaries.auditing.signals.signals import Signals
from summaries.auditing.signals.tags import TagTable


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["rank=0", "rank=1"], [("rank=0", "rank=1")]),
        (["a/rank_10/x", "a/rank_9/x", "a/rank_0/x"], [("a/rank_0/x", "a/rank_9/x", "a/rank_10/x")]),
        (["a/rank0", "a/rank1", "b/rank0", "b/rank1"], [("a/rank0", "a/rank1"), ("b/rank0", "b/rank1")]),
        (["rank=0"], []),
        (["rank=4", "rank=8"], []),  # a sweep over the rank of adapters
        (["frank=0", "frank=1", "rank=0b", "rank=1b"], []),
    ],
)
def test_which_runs_are_ranks_of_a_job(names, found):
    assert jobs(names) == found


def test_names_without_numbers():
    assert jobs(["w-b", "w-a", "other"], "w-[ab]") == [("w-a", "w-b")]


def test_only_common_steps_are_beside_each_other():
    rng = np.random.default_rng(0)
    columns = [{"x": ([0, 1, 2, 4], [1, 2, 3, 4])}, {"x": ([1, 4, 5], [5, 6, 7])}, {"y": ([0], [0])}]
    columns = [{tag: (np.array(step), np.array(value, float)) for tag, (step, value) in c.items()} for c in columns]
    ranks = [Signals(str(i), labelled.as_run(rng, c), TagTable()) for i, c in enumerate(columns)]
    found = beside(ranks, "x")
    assert [rank.name for rank in found.ranks] == ["0", "1"]
    assert found.step.tolist() == [1, 4]
    assert found.value.tolist() == [[2, 4], [5, 6]]
