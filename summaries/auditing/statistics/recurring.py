"""Which of a run's rare events come at even distances, as checkpoints and evaluations do.

Pure NumPy (no I/O). A kind of event is found by walking: from one event by the distance to another, on and on, to the
run's end. What lies on the way is of that kind, if it is about as large as the others. Then the same again with the
events that are left, as a run has evaluations every so often, and checkpoints every so often.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["recurring", "thirds"]

_KINDS = 3  # evaluations, checkpoints, and another
_MISSED = 0.25  # of its places, at most: what is logged seldom, or written fast, is not always seen
_TRIED = 5  # of the events that are left, from which a walk begins, and to which it first goes
_MOST_EVENTS = 1000
_UNEVEN = 0.02  # of the distance
_APART = 1e-12  # of where they are: closer, a walk would not get on, as numbers are rounded
_LIKE, _ROUGHLY_LIKE = 2.0, 5.0  # over the usual size: where a kind has few events, and where many tell that it is one
_FEW = 5
_MANY = 7  # distances between events at random, all within half and twice the usual: at most one run in a hundred


def recurring(
    place: NDArray[np.float64], size: NDArray[np.float64], slack: float, fewest: int = 3
) -> NDArray[np.bool_]:
    """Which events are of a kind that recurs: that comes at even distances, to where the last events are.

    Many that are alike may come at distances that are even but roughly. Three or four may be even by chance: they must
    have come from the beginning on.

    Args:
        place: float64[k]: where each is, on a scale on which the run begins at 0.
        size: float64[k], positive.
        slack: how far an event may be from its place, whatever the distance.
        fewest: how many events a kind has at least.

    Returns:
        bool[k]: whether it is of such a kind.

    Example:
        >>> recurring(np.array([10.0, 20, 30, 33, 40]), np.array([5.0, 6, 5, 5, 400]), slack=1)
        array([ True,  True,  True, False, False])
    """
    found = np.zeros(len(place), bool)
    order = np.argsort(place, kind="stable")
    if len(order) > _MOST_EVENTS:
        order = order[np.sort(np.argsort(-size[order], kind="stable")[:_MOST_EVENTS])]
    place, size = place[order], size[order]
    left = np.ones(len(place), bool)
    for _ in range(_KINDS):
        kind, times = _largest_kind(place, size, np.flatnonzero(left), slack)
        if times < fewest:
            break
        left &= ~kind
    found[order[~left | _about_even(place, size)]] = True
    return found


def thirds(place: NDArray[np.float64], size: NDArray[np.float64], slack: float) -> bool:
    """Whether there are two events, alike, and one is twice as far on as the other: as between three epochs.

    Args:
        place: float64[k]: where each is, on a scale that begins with the run at 0.
        size: float64[k], positive.
        slack: how far an event may be from its place.

    Example:
        >>> thirds(np.array([333.0, 667.0]), np.array([50.0, 52.0]), slack=1)
        True
    """
    if len(place) != 2:  # noqa: PLR2004
        return False
    near, far = sorted(place.tolist())
    return abs(far - 2 * near) <= slack and float(size.max()) <= 1.5 * float(size.min())


def _largest_kind(
    place: NDArray[np.float64], size: NDArray[np.float64], left: NDArray[np.int64], slack: float
) -> tuple[NDArray[np.bool_], int]:
    """The kind that comes most often, of those that two events that are left may begin; and how often it does."""
    kind, most = np.zeros(len(place), bool), 0
    for i, ahead in product(range(min(_TRIED, len(left))), range(1, _TRIED)):
        first, second = float(place[left[i]]), float(place[left[min(i + ahead, len(left) - 1)]])
        if not second - first > _APART * abs(second):
            continue
        turn = _walk(place, first, second - first, slack)
        if turn.max() < _FEW and not _from_the_beginning(place, first, second - first, 2 * slack):
            continue
        walked = turn > 0
        usual = np.median(size[walked]) if walked.any() else 0.0
        walked &= size <= (_LIKE if turn.max() < _FEW else _ROUGHLY_LIKE) * usual
        times = len(np.unique(turn[walked]))
        if times > most:
            kind, most = walked, times
    return kind, most


def _from_the_beginning(place: NDArray[np.float64], first: float, distance: float, near: float) -> bool:
    """Whether there is an event, of whatever kind, at each place before the first, down to one distance from 0."""
    count = round(min(first / distance, len(place) + 1))
    before = first - distance * np.arange(count)
    if not 1 <= count <= len(place) or abs(before[-1] - distance) > near:
        return False
    return bool((np.abs(before[:, None] - place).min(axis=1) <= near).all())


def _about_even(place: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Those that are alike, if they are many, and no two neighbours are far closer, or farther, than is usual.

    So come those that follow an amount of data, rather than a number of steps.
    """
    alike = size <= _LIKE * (np.median(size) if len(size) else 0)
    between = np.diff(place[alike])
    if len(between) < _MANY:
        return np.zeros(len(place), bool)
    usual = np.median(between)
    return alike & bool((between >= usual / 2).all() and (between <= 2 * usual).all() and usual > 0)


def _walk(place: NDArray[np.float64], first: float, distance: float, slack: float) -> NDArray[np.int64]:
    """On the way from the first place by this distance, again and again, at which turn each event lies; 0 for none.

    All zero, if at too many turns there is none.
    """
    near = min(max(slack, _UNEVEN * distance), distance / 6)
    turn = np.zeros(len(place), np.int64)
    hits = missed = 0
    here = first
    while here <= place[-1] + near and missed <= _MISSED * max(hits, len(place)):
        low, high = np.searchsorted(place, here - near), np.searchsorted(place, here + near, "right")
        if low < high:
            hits += 1
            turn[low:high] = hits
            here = place[low + int(np.argmin(np.abs(place[low:high] - here)))]
        else:
            missed += 1
        here += distance
    if missed > _MISSED * hits:
        turn[:] = 0
    return turn
