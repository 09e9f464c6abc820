"""Session starts, told for a tag in as many words as the tag has points, and standing for the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from summaries.reading.columns import Epochs
from summaries.reading.restarts import SessionStarts, Standing, standing

HIGHEST = 2**63 - 1


def epochs_of(numbers):
    return Epochs.of(np.array(numbers, np.int32))


def test_no_starts():
    assert SessionStarts([]).restarts(epochs_of([0, 0, 3])) == ()


def test_a_start_before_the_first_point_is_left_out():
    assert SessionStarts([(0, 7), (1, 8)]).restarts(epochs_of([2, 2])) == []


def test_each_start_between_points_is_told():
    starts = SessionStarts([(0, 7), (2, 5)])
    assert starts.restarts(epochs_of([0, 0, 1, 3])) == [(2, 7), (3, 5)]


def test_of_several_starts_between_two_points_the_lowest_and_the_last_are_told():
    starts = SessionStarts([(0, 7), (1, 3), (2, 5)])
    assert starts.restarts(epochs_of([0, 3])) == [(1, 3), (1, 5)]
    assert starts.restarts(epochs_of([0])) == [(1, 3), (1, 5)]


def test_thousands_of_starts_behind_a_tag_are_two():
    starts = SessionStarts([(mark, 9) for mark in range(5000)])
    assert starts.restarts(epochs_of([0])) == [(1, 9), (1, 9)]


def plainly(step, restarts, keep_repeats):
    """The meaning of `standing`, point by point."""
    codes = []
    for i, own in enumerate(step):
        later = step[i + 1 :]
        if any(before > i and start <= own for before, start in restarts):
            codes.append(Standing.SESSION_RESTARTED)
        elif any(one < own if keep_repeats else one <= own for one in later):
            codes.append(Standing.WRITTEN_AGAIN)
        else:
            codes.append(Standing.STANDS)
    return codes


STEPS = st.one_of(st.integers(0, 6), st.sampled_from([HIGHEST - 1, HIGHEST]))


@given(st.lists(st.one_of(st.tuples(st.just("point"), STEPS), st.tuples(st.just("start"), STEPS))), st.booleans())
def test_what_stands_is_what_all_starts_say(order, keep_repeats):
    """The short list of restarts means the same as the list of all."""
    step, epochs, starts, restarts = [], [], [], []
    for what, number in order:
        if what == "point":
            step.append(number)
            epochs.append(len(starts))
        else:
            restarts.append((len(step), number))
            starts.append((len(starts), number))
    want = plainly(step, restarts, keep_repeats)
    steps = np.array(step, np.int64)
    assert standing(steps, restarts, keep_repeats=keep_repeats).tolist() == want
    if step:
        told = SessionStarts(starts).restarts(epochs_of(epochs))
        assert standing(steps, told, keep_repeats=keep_repeats).tolist() == want
        assert dict(told) == {before: start for before, start in restarts if before}
