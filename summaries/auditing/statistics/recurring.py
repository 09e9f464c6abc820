"""Recurring events: which rare events of a run come at even distances, like checkpoints and evaluations.

A kind of event is found by walking from one event, in steps of its distance to another event, to the end of the run.
Events on the way are of that kind if they are about as large as the others. This is repeated with the events that are
left, because a run may have evaluations at one distance and checkpoints at another.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from summaries.arrays import Bools, Floats, Ints

__all__ = ["recurring", "thirds"]

_KINDS = 3  # evaluations, checkpoints, and one more
_MISSED = 0.25  # the largest share of the positions of a kind without an event: short gaps are not always seen
_TRIED = 5  # remaining events that are tried as the start of a walk, and as its first stop
_MOST_EVENTS = 1000
_UNEVEN = 0.02  # of the distance: how far an event may be from its position
_APART = 1e-12  # relative to their positions: if closer, rounding would keep a walk from moving
_LIKE, _ROUGHLY_LIKE = 2.0, 5.0  # times the usual size, at most: if a kind has few events, and if it has many
_FEW = 5
_THIRDS = 1.5  # times as long: two events that are as between three epochs
_MANY = 7  # random distances are all within half and twice the usual in at most one run in a hundred


def recurring(position: Floats, size: Floats, slack: float, fewest: int = 3) -> Bools:
    """Which events are of a kind that recurs at even distances up to the last events.

    Many similar events may recur at roughly even distances. Three or four may be evenly spaced by chance: they must
    have recurred since the beginning.

    Args:
        position: float64[k]: the position of each event, on a scale on which the run begins at 0.
        size: float64[k], positive.
        slack: how far an event may be from its position, whatever the distance.
        fewest: the least number of events of a kind.

    Returns:
        bool[k]: whether each event is of such a kind.

    Example:
        >>> recurring(np.array([10.0, 20, 30, 33, 40]), np.array([5.0, 6, 5, 5, 400]), slack=1)
        array([ True,  True,  True, False, False])
    """
    recurs = np.zeros(len(position), bool)
    order = np.argsort(position, kind="stable")
    if len(order) > _MOST_EVENTS:
        order = order[np.sort(np.argsort(-size[order], kind="stable")[:_MOST_EVENTS])]
    position, size = position[order], size[order]
    left = np.ones(len(position), bool)
    for _ in range(_KINDS):
        kind, times = _largest_kind(position, size, np.flatnonzero(left), slack)
        if times < fewest:
            break
        left &= ~kind
    recurs[order[~left | _about_even(position, size)]] = True
    return recurs


def thirds(position: Floats, size: Floats, slack: float) -> bool:
    """Whether there are just two events, of similar size, one twice as far on as the other, as between three epochs.

    Args:
        position: float64[k]: the position of each event, on a scale on which the run begins at 0.
        size: float64[k], positive.
        slack: how far an event may be from its position.

    Example:
        >>> thirds(np.array([333.0, 667.0]), np.array([50.0, 52.0]), slack=1)
        True
    """
    if len(position) != 2:  # noqa: PLR2004 - as its name says
        return False
    near, far = sorted(position.tolist())
    return abs(far - 2 * near) <= slack and float(size.max()) <= _THIRDS * float(size.min())


def _largest_kind(position: Floats, size: Floats, left: Ints, slack: float) -> tuple[Bools, int]:
    """The kind that recurs most often, among those that two remaining events can start; and how often it recurs."""
    kind, most = np.zeros(len(position), bool), 0
    for i, ahead in product(range(min(_TRIED, len(left))), range(1, _TRIED)):
        first, second = float(position[left[i]]), float(position[left[min(i + ahead, len(left) - 1)]])
        if not second - first > _APART * abs(second):
            continue
        turn = _walk(position, first, second - first, slack)
        if turn.max() < _FEW and not _from_the_beginning(position, first, second - first, 2 * slack):
            continue
        walked = turn > 0
        usual = np.median(size[walked]) if walked.any() else 0.0
        walked &= size <= (_LIKE if turn.max() < _FEW else _ROUGHLY_LIKE) * usual
        times = len(np.unique(turn[walked]))
        if times > most:
            kind, most = walked, times
    return kind, most


def _from_the_beginning(position: Floats, first: float, distance: float, near: float) -> bool:
    """Whether there is an event, of any kind, at each position before the first, back to one distance from 0."""
    count = round(min(first / distance, len(position) + 1))
    before = first - distance * np.arange(count)
    if not 1 <= count <= len(position) or abs(before[-1] - distance) > near:
        return False
    return bool((np.abs(before[:, None] - position).min(axis=1) <= near).all())


def _about_even(position: Floats, size: Floats) -> Bools:
    """The events of similar size, if there are many, and if all distances are between half and twice the usual.

    Events that follow an amount of data rather than a number of steps are like that.
    """
    alike = size <= _LIKE * (np.median(size) if len(size) else 0)
    between = np.diff(position[alike])
    if len(between) < _MANY:
        return np.zeros(len(position), bool)
    usual = np.median(between)
    return alike & bool((between >= usual / 2).all() and (between <= 2 * usual).all() and usual > 0)


def _walk(position: Floats, first: float, distance: float, slack: float) -> Ints:
    """Walk from the first position in steps of this distance: the number of the step at which each event lies.

    It is 0 for events aside. All are 0 if there are too many steps without an event.
    """
    near = min(max(slack, _UNEVEN * distance), distance / 6)
    turn = np.zeros(len(position), np.int64)
    hits = missed = 0
    here = first
    while here <= position[-1] + near and missed <= _MISSED * max(hits, len(position)):
        low, high = np.searchsorted(position, here - near), np.searchsorted(position, here + near, "right")
        if low < high:
            hits += 1
            turn[low:high] = hits
            here = position[low + int(np.argmin(np.abs(position[low:high] - here)))]
        else:
            missed += 1
        here += distance
    if missed > _MISSED * hits:
        turn[:] = 0
    return turn
