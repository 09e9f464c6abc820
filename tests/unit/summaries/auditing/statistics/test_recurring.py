"""What comes at even distances, told from what does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summaries.auditing.statistics.recurring import recurring, thirds


def left(*kinds, slack=1.0):
    """The places of what does not recur, of events as (place, size)."""
    events = sorted(event for kind in kinds for event in kind)
    place, size = (np.array(column, float) for column in zip(*events, strict=True))
    return place[~recurring(place, size, slack)].tolist()


def every(distance, until=1000, size=30.0, start=None):
    return [(place, size) for place in range(distance if start is None else start, until, distance)]


@pytest.mark.parametrize("distance", [7, 50, 150])
@pytest.mark.parametrize("start", [None, 3, 120])
def test_one_kind(distance, start):
    assert left(every(distance, start=start)) == []


def test_three_begin_where_none_is_missing_before():
    assert left(every(250)) == []
    assert left(every(150, start=600)) == [600, 750, 900]
    assert left(every(75, size=20), every(225, size=150)[1:]) == []  # its first fell together with one of another kind
    assert left(every(250, start=330)) == [330, 580, 830]


def test_two_kinds_and_three():
    assert left(every(70), every(160, size=50)) == []
    assert left(every(20, size=100), every(50), every(333, size=300)) == []


@pytest.mark.parametrize("hang", [3, 55, 100, 503, 999])
def test_a_hang_beside_them(hang):
    assert left([(hang, 3600)], every(100)) == [hang]
    assert left([(hang, 3600)], every(70, size=20), every(160, size=50)) == [hang]


def test_of_very_many_only_the_largest_thousand_are_looked_at():
    """The work grows with their square."""
    size = np.where(np.arange(1500) % 3 == 0, 10.0, 20.0)
    found = recurring(np.arange(1.0, 1501), size, 0)
    assert found.sum() <= 1000
    assert not found[size == 10].any()


def test_uneven_by_a_little():
    rng = np.random.default_rng(0)
    place = np.arange(1, 10) * 300 + rng.uniform(-2, 2, 9)
    assert recurring(place, rng.uniform(20, 60, 9), 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_many_at_roughly_even_distances(seed):
    rng = np.random.default_rng(seed)
    shards = [(place, 20) for place in np.cumsum(rng.uniform(80, 130, 12)).tolist()]
    assert left(shards) == []
    assert left([*shards, (500.5, 900)]) == [500.5]
    assert left([(place, 20 * 4 ** (number % 3)) for number, (place, _) in enumerate(shards)]) != []


def test_one_that_is_not_seen():
    assert left([event for event in every(100) if event[0] != 500]) == []


@pytest.mark.parametrize("events", [[(500, 60)], [(200, 60), (700, 60)], [(100, 60), (300, 60), (900, 60)]])
def test_few_that_are_not_even(events):
    assert left(events) == [place for place, _ in events]


@pytest.mark.parametrize(
    ("place", "size", "are"),
    [([333, 667], [60, 62], True), ([667, 333], [60, 62], True), ([333, 667], [60, 900], False),
     ([333, 700], [60, 60], False), ([333], [60], False), ([333, 667, 1000], [60, 60, 60], False)],
)  # fmt: skip
def test_two_between_three_epochs(place, size, are):
    assert thirds(np.array(place, float), np.array(size, float), 1.0) is are


def test_three_that_are_even_and_not_alike():
    assert left([(250, 100), (500, 700), (750, 2500)]) == [250, 500, 750]


def test_at_one_place_or_at_none():
    assert not recurring(np.zeros(5), np.ones(5), 1.0).any()
    assert not recurring(np.full(5, np.nan), np.ones(5), 1.0).any()
    assert recurring(np.zeros(0), np.zeros(0), 1.0).shape == (0,)


@pytest.mark.parametrize("distance", [5e-324, 1e-9, 1e-7, 1e-3])
def test_next_to_each_other_far_away(distance):
    place = 1e9 + distance * np.arange(6.0)
    assert recurring(place, np.ones(6), 0.0).shape == (6,)


def test_a_great_many():
    place = np.arange(1.0, 50_000)
    assert recurring(place, np.ones(len(place)), 0.0).shape == place.shape


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(1e-3, 1e6)), max_size=30), st.floats(0, 100))
def test_order_does_not_matter(events, slack):
    place = np.array([one for one, _ in events])
    size = np.array([one for _, one in events])
    found = recurring(place, size, slack)
    assert np.count_nonzero(recurring(place[::-1], size[::-1], slack)) == np.count_nonzero(found)
