"""Runs with labelled timelines and learning rates: the times of steps, restarts, and the rate at restarts.

Every maker takes a random generator and the number of points; a healthy one returns a Run, a faulty one the Run and the
step at which its fault begins.
"""

import numpy as np
from labelled.runs import START, as_run, columns, decay, noisy

from summaries.reading.series import Series

SIZES = (100, 1000, 5000)


def timed(rng, run, secs, gaps=(), jitter=0.1):
    """The run with about `secs` seconds per step, plus extra seconds before some steps: {step: seconds}."""
    longest = max(len(series) for series in run.scalars.values())
    between = secs * np.exp(jitter * rng.standard_normal(longest))
    for step, gap in dict(gaps).items():
        between[step] += gap
    times = START + np.cumsum(between)
    run.scalars = {tag: Series(tag, s.step, times[: len(s)], s.value, s.restarts) for tag, s in run.scalars.items()}
    return run


def a_loss(rng, n, secs, gaps=(), jitter=0.1):
    return timed(rng, as_run(rng, {"train/loss": columns(noisy(rng, decay(n), 0.05))}), secs, gaps, jitter)


def a_rate(rng, rate, restarts=()):
    """A run with this learning rate, resumed where it was by session starts at these steps."""
    run = as_run(rng, {"train/learning_rate": columns(rate)})
    run.scalars = {
        tag: Series(tag, s.step, s.wall_time, s.value, [(step, step) for step in restarts])
        for tag, s in run.scalars.items()
    }
    return run


def triangles(n, cycles=5):
    """A rate that goes up and down linearly, between a tenth of its maximum and the maximum."""
    return 1e-3 * (0.1 + 0.9 * (1 - np.abs((np.arange(n) / n * cycles) % 1 * 2 - 1)))


# Healthy


def checkpoints(rng, n):
    """One after each tenth of the run, of varying duration."""
    return a_loss(rng, n, 0.5, {step: rng.lognormal(3.5, 0.4) for step in range(n // 10, n, n // 10)}, 0.3)


def epochs_and_checkpoints(rng, n):
    """Two kinds of pauses, which sometimes coincide."""
    epoch, checkpoint = max(3, int(rng.uniform(0.04, 0.09) * n)), max(3, int(rng.uniform(0.11, 0.24) * n))
    gaps = {step: rng.uniform(15, 25) for step in range(epoch, n, epoch)}
    for step in range(checkpoint, n, checkpoint):
        gaps[step] = gaps.get(step, 0) + rng.uniform(40, 60)
    return a_loss(rng, n, 0.2, gaps, 0.2)


def evaluations_from_some_step_on(rng, n):
    first, every = int(rng.uniform(0.2, 0.4) * n), max(4, n // 15)
    return a_loss(rng, n, 0.1, dict.fromkeys(range(first, n, every), 90.0))


def three_epochs(rng, n):
    return a_loss(rng, n, 0.3, {n // 3: rng.uniform(50, 60), 2 * n // 3: rng.uniform(50, 60)})


def checkpoints_by_the_clock(rng, n):
    """At fixed intervals of time, while the duration of steps varies twofold."""
    secs = 5 * (1 + np.sin(np.arange(n) / n * 7) / 3) * np.exp(0.2 * rng.standard_normal(n))
    due = np.floor(np.cumsum(secs) / (max(n // 9, 8) * 5))
    gaps = {int(step): 150.0 for step in np.flatnonzero(np.diff(due)) + 1}
    run = a_loss(rng, n, 1.0)
    between = secs + np.array([gaps.get(step, 0.0) for step in range(n)])
    loss = run.scalars["train/loss"]
    run.scalars = {"train/loss": Series("train/loss", loss.step, START + np.cumsum(between), loss.value)}
    return run


def evaluations_that_are_logged(rng, n):
    """One or two, unevenly spaced, each in the pause before the next step."""
    places = np.sort(rng.choice(np.arange(n // 5, n - 1), int(rng.integers(1, 3)), replace=False))
    run = a_loss(rng, n, 0.2, {int(step): rng.uniform(60, 90) for step in places})
    times = run.scalars["train/loss"].wall_time
    run.scalars["eval/loss"] = Series("eval/loss", places - 1, times[places] - 0.1, np.ones(len(places)))
    return run


def data_in_shards(rng, n):
    """A pause for each shard; some shards are larger than others."""
    places = np.cumsum(rng.uniform(0.8, 1.25, 12) * n / 15).astype(int)
    return a_loss(rng, n, 0.3, {int(step): rng.uniform(18, 25) for step in places if step < n})


def warms_up_again(rng, n):
    """After a marked restart, from exactly zero to the previous rate."""
    at, length = int(rng.uniform(0.3, 0.8) * n), max(1, int(rng.uniform(0, 0.03) * n))
    rate = 1e-3 * (1 - np.arange(n) / n)
    rate[at : at + length] *= np.arange(length) / length
    return a_rate(rng, rate, [at])


def warms_up_again_unmarked(rng, n):
    """The same in one file, without a restart mark."""
    at, length = int(rng.uniform(0.3, 0.7) * n), max(2, int(rng.uniform(0, 0.03) * n))
    rate = 1e-3 * (1 - np.arange(n) / n)
    rate[at : at + length] *= np.arange(length) / length
    return a_rate(rng, rate)


def warms_up_by_factors(rng, n):
    """By a factor of 10 at each of a few points, or of 2.2 at each of some more."""
    factor, points = (10, int(rng.integers(3, 6))) if rng.random() < 0.5 else (2.2, int(rng.integers(5, 12)))
    return a_rate(rng, 0.1 * factor ** np.minimum(0, np.arange(n) + 1.0 - points) * (1 - np.arange(n) / n))


def schedule_of_the_next_stage(rng, n):
    """The rate falls to zero, may rest there for a point, and another cycle begins, about half as high."""
    first = n // 2
    one = 1e-3 * 0.5 * (1 + np.cos(np.pi * np.arange(first) / (first - 1)))
    rest = np.zeros(int(rng.integers(0, 2)))
    two = 6e-4 * (1 - np.arange(n - first - len(rest)) / n)
    return a_rate(rng, np.concatenate([one, rest, two]))


def triangular(rng, n):
    """In a short run, half of the points would be jumps in any other schedule."""
    return a_rate(rng, triangles(n, int(rng.integers(3, 12))))


def range_test(rng, n):
    """The rate grows by the same factor at each point."""
    return a_rate(rng, 1e-6 * 10 ** np.linspace(0, rng.uniform(3, 6), n))


HEALTHY = [
    triangular, range_test,
    checkpoints, epochs_and_checkpoints, evaluations_from_some_step_on, three_epochs, checkpoints_by_the_clock,
    evaluations_that_are_logged, data_in_shards,
    warms_up_again, warms_up_again_unmarked, warms_up_by_factors, schedule_of_the_next_stage,
]  # fmt: skip


# Faults, with the step at which they begin


def a_hang(rng, n):
    at = int(rng.uniform(0.1, 0.98) * n)
    return a_loss(rng, n, 1.0, {at: rng.uniform(300, 5000)}, 0.3), at - 1


def a_hang_beside_checkpoints(rng, n):
    every = n // 10
    at = int(rng.integers(1, 10)) * every + every // 2
    gaps = dict.fromkeys(range(every, n, every), 30.0)
    return a_loss(rng, n, 0.5, {**gaps, at: 3600.0}), at - 1


def an_evaluation_that_hangs(rng, n):
    """Evaluations are unevenly spaced; the evaluation loss explains the other pauses."""
    places = np.sort(rng.choice(np.arange(n // 5, n - 1), 5, replace=False))
    gaps = {int(step): 60.0 for step in places}
    hangs = int(places[rng.integers(5)])
    run = a_loss(rng, n, 0.2, {**gaps, hangs: 3600.0})
    times = run.scalars["train/loss"].wall_time
    run.scalars["eval/loss"] = Series("eval/loss", places - 1, times[places] - 0.1, np.ones(5))
    return run, hangs - 1


def a_checkpoint_that_hangs(rng, n):
    every = n // 10
    at = int(rng.integers(1, 10)) * every
    gaps = dict.fromkeys(range(every, n, every), 30.0)
    return a_loss(rng, n, 0.5, {**gaps, at: 1800.0}), at - 1


def a_hang_beside_epochs_and_checkpoints(rng, n):
    epoch, checkpoint = int(0.07 * n), int(0.16 * n)
    at = int(rng.uniform(0.1, 0.9) * n)
    gaps = {**dict.fromkeys(range(epoch, n, epoch), 20.0), **dict.fromkeys(range(checkpoint, n, checkpoint), 50.0)}
    return a_loss(rng, n, 0.2, {**gaps, at: 3600.0}), at - 1


def three_hangs(rng, n):
    places = np.sort(rng.choice(np.arange(n // 10, n), 3, replace=False)).tolist()
    while abs(places[0] - 2 * places[1] + places[2]) < n // 10:  # at even distances they would look like checkpoints
        places = np.sort(rng.choice(np.arange(n // 10, n), 3, replace=False)).tolist()
    return a_loss(rng, n, 1.0, {step: rng.uniform(300, 1200) for step in places}, 0.2), places[0] - 1


def a_nonfinite_time(rng, n):
    at = int(rng.uniform(0.1, 0.9) * n)
    run = a_loss(rng, n, 1.0)
    run.scalars["train/loss"].wall_time[at] = rng.choice([np.nan, np.inf])
    return run, at


def one_time_that_is_early(rng, n):
    """By a minute: a fault of the clock; the next step, which makes up for it, is not a stall."""
    at = int(rng.uniform(0.1, 0.9) * n)
    run = a_loss(rng, n, 1.0)
    run.scalars["train/loss"].wall_time[at] -= 60
    return run, at


def stays_zero_after_a_restart(rng, n):
    at = int(rng.uniform(0.3, 0.7) * n)
    rate = 1e-3 * (1 - np.arange(n) / n)
    rate[at:] = 0
    return a_rate(rng, rate, [at]), at


def zero_for_a_while(rng, n):
    at = int(rng.uniform(0.2, 0.7) * n)
    rate = 1e-3 * 0.5 * (1 + np.cos(np.pi * np.arange(n) / n))
    rate[at : at + max(6, n // 8)] = 0
    return a_rate(rng, rate), at


def zero_at_a_point(rng, n):
    at = int(rng.uniform(0.2, 0.7) * n)
    rate = 1e-3 * (1 - np.arange(n) / n)
    rate[at] = 0
    return a_rate(rng, rate), at


def zero_in_a_triangle(rng, n):
    """In a cyclic rate that never reaches zero."""
    at = int(rng.uniform(0.2, 0.7) * n)
    rate = triangles(n)
    rate[at : at + max(6, n // 8)] = 0
    return a_rate(rng, rate), at


def triangle_jumps(rng, n):
    """Thirtyfold, from a level high enough that this exceeds the whole range of the cycles."""
    rate = triangles(n)
    at = int(rng.choice(np.flatnonzero((rate > 5e-4) & (np.arange(n) > 0.3 * n) & (np.arange(n) < 0.9 * n))))
    rate[at:] *= 30
    return a_rate(rng, rate), at


def jumps_at_a_restart(rng, n):
    at = int(rng.uniform(0.2, 0.8) * n)
    rate = np.full(n, 1e-3)
    rate[at:] *= 10
    return a_rate(rng, rate, [at]), at


FAULTS = [
    ("GL204", a_hang), ("GL204", a_hang_beside_checkpoints), ("GL204", a_checkpoint_that_hangs),
    ("GL204", an_evaluation_that_hangs),
    ("GL204", a_hang_beside_epochs_and_checkpoints), ("GL204", three_hangs),
    ("GL203", a_nonfinite_time), ("GL203", one_time_that_is_early),
    ("GL504", stays_zero_after_a_restart), ("GL504", zero_for_a_while), ("GL504", zero_at_a_point),
    ("GL504", jumps_at_a_restart), ("GL504", zero_in_a_triangle), ("GL504", triangle_jumps),
]  # fmt: skip
