"""Values that are on their way from a device."""

import pytest

from optim.telemetry.arriving import Arriving


class Coming:
    """Stands for a transfer from a device."""

    has_arrived = False


def test_what_is_there_is_there():
    value = Arriving.of(3)
    assert value.is_at_hand
    assert value.has_arrived
    assert value.then(lambda number: number + 1).value() == 4


def test_a_value_is_made_once_when_somebody_asks():
    coming, made = Coming(), []
    value = Arriving([coming], lambda: made.append(1) or len(made))
    assert not value.is_at_hand
    assert (value.has_arrived, made) == (False, [])
    coming.has_arrived = True
    assert (value.has_arrived, made) == (True, [])
    assert [value.value(), value.value()] == [1, 1]


def test_a_later_value_needs_all_that_it_is_made_of():
    first, second = Coming(), Coming()
    value = Arriving([first], lambda: 1).then(lambda number: number + 1, second)
    first.has_arrived = True
    assert not value.has_arrived
    second.has_arrived = True
    assert value.has_arrived
    assert value.value() == 2


def test_one_that_cannot_be_made_says_so_each_time():
    value = Arriving([], lambda: 1 // 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            value.value()
