"""Optimizers against torch's, in one run: global-norm clipping and the update, on float32, two threads.

    python -m pip install 'gradledger[fast]' torch==2.13.0

Each round times ours and then the peer's, so that both see the machine in the same state; the shortest of all rounds
counts, and "typical" is the ratio of the medians. The placement of arrays in memory can make a step, ours or the
peer's, a quarter slower for as long as they stay there, so both start afresh a few times per line. The share of a
copy's bandwidth is the bytes that a step must move (the gradient once more if it is clipped) over its time, relative to
copying one large array with as many threads.
"""

from __future__ import annotations

import functools
import itertools
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import optim
from optim.kernels import compiled, threads

if TYPE_CHECKING:
    from collections.abc import Callable

    Pairs = list[tuple[np.ndarray[Any, Any], optim.Variable]]

THREADS = 2
CLIP_NORM = 1.0
LARGE = (50, 400_000)  # arrays, elements of each
SMALL = (50, 4_000)


class Contest(NamedTuple):
    """Our optimizer against torch's equivalent."""

    name: str
    ours: Callable[[], optim.Optimizer]
    theirs: Callable[[Any, list[Any]], Any]  # (torch, parameters) → torch's optimizer
    passes: int  # arrays read and written per step
    clips: bool = True
    report: bool = False
    kernels: str = "compiled"
    target: float = 1.0
    shape: tuple[int, int] = LARGE


def adam(torch: Any, parameters: list[Any]) -> Any:
    return torch.optim.Adam(parameters, lr=1e-3, fused=True)


CONTESTS = (
    Contest("clip + Adam, full report; torch fused, none", optim.AdamOptimizer, adam, 7, report=True, target=1.15),
    Contest("clip + Adam; torch fused", optim.AdamOptimizer, adam, 7, target=1.25),
    Contest("clip + Adam, 50 x 4,000; torch fused", optim.AdamOptimizer, adam, 7, target=1.5, shape=SMALL),
    Contest("clip + Adam, 50 x 4,000, full report", optim.AdamOptimizer, adam, 7, report=True, target=1.0, shape=SMALL),
    Contest(
        "Adam without numba; torch default",
        optim.AdamOptimizer,
        lambda torch, parameters: torch.optim.Adam(parameters, lr=1e-3),
        7,
        clips=False,
        kernels="plain",
    ),
    Contest(
        "gradient descent; torch fused",
        lambda: optim.GradientDescentOptimizer(1e-3),
        lambda torch, parameters: torch.optim.SGD(parameters, lr=1e-3, fused=True),
        3,
        clips=False,
    ),
    Contest(
        "momentum; torch fused",
        lambda: optim.MomentumOptimizer(1e-3, 0.9),
        lambda torch, parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9, fused=True),
        5,
        clips=False,
    ),
    Contest(
        "RMSProp; torch foreach",
        lambda: optim.RMSPropOptimizer(1e-3, momentum=0.9),
        lambda torch, parameters: torch.optim.RMSprop(parameters, lr=1e-3, momentum=0.9, foreach=True),
        7,
        clips=False,
    ),
    Contest(
        "Adagrad; torch fused",
        lambda: optim.AdagradOptimizer(1e-3),
        lambda torch, parameters: torch.optim.Adagrad(parameters, lr=1e-3, fused=True),
        5,
        clips=False,
    ),
)


def arrays_of(shape: tuple[int, int]) -> list[tuple[Any, Any]]:
    """(weights, gradient) of each array."""
    rng = np.random.default_rng(0)
    count, size = shape
    return [(rng.standard_normal(size, np.float32), 0.01 * rng.standard_normal(size, np.float32)) for _ in range(count)]


def our_step(contest: Contest) -> Callable[[], Any]:
    pairs: Pairs = [(g, optim.Variable(w, name=f"w{i}")) for i, (w, g) in enumerate(arrays_of(contest.shape))]
    optimizer = contest.ours()
    if contest.clips:
        optimizer = optim.clip_gradients_by_norm(optimizer, CLIP_NORM)
    return functools.partial(optimizer.apply_gradients, pairs, report=contest.report)


def their_step(contest: Contest, torch: Any) -> Callable[[], None]:
    parameters = []
    for w, g in arrays_of(contest.shape):
        parameter = torch.nn.Parameter(torch.from_numpy(w))
        parameter.grad = torch.from_numpy(g)
        parameters.append(parameter)
    optimizer = contest.theirs(torch, parameters)

    def step() -> None:
        if contest.clips:
            torch.nn.utils.clip_grad_norm_(parameters, CLIP_NORM)
        optimizer.step()

    return step


_BEGINNINGS = 4
_TURNS = 3
_PAUSE_SECS = 0.3  # torch's threads keep spinning for a while, and would slow down the next contender


def times(steps: list[Callable[[], Any]], seconds: float) -> list[list[float]]:
    """The duration of every step of each, in seconds: they take turns of many steps, with pauses between."""
    found: list[list[float]] = [[] for _ in steps]
    for _ in range(_TURNS):
        for i, step in enumerate(steps):
            time.sleep(_PAUSE_SECS)
            end = time.perf_counter() + seconds / _TURNS / len(steps)
            for number in itertools.count():
                start = time.perf_counter()
                step()
                stop = time.perf_counter()
                if number > 1:  # the first ones warm up
                    found[i].append(stop - start)
                if number > 5 and stop > end:
                    break
    return found


def least(steps: list[Callable[[], Any]], seconds: float) -> list[float]:
    """The shortest duration of each, in seconds."""
    return [min(found) for found in times(steps, seconds)]


def copy_bandwidth() -> float:
    """Bytes per second, read and written, of copying a large array on all threads."""
    source, target = np.ones(LARGE[0] * LARGE[1], np.float32), np.empty(LARGE[0] * LARGE[1], np.float32)
    parts = np.array_split(np.arange(len(source)), 64)
    bounds = [(part[0], part[-1] + 1) for part in parts]

    def copy() -> None:
        def work(bound: tuple[int, int]) -> None:
            first, last = bound
            np.copyto(target[first:last], source[first:last])

        threads.share(work, bounds, THREADS)

    return 2 * source.nbytes / least([copy], 1.0)[0]


def run(contest: Contest, torch: Any, bandwidth: float, seconds: float) -> None:
    compiled.use(contest.kernels if compiled.available() or contest.kernels == "plain" else None)
    rounds = []
    for _ in range(_BEGINNINGS):
        steps = [our_step(contest)] if torch is None else [our_step(contest), their_step(contest, torch)]
        rounds.append(times(steps, seconds / _BEGINNINGS))
    compiled.use(None)
    found = [list(itertools.chain.from_iterable(of_one)) for of_one in zip(*rounds, strict=True)]
    ours, *theirs = (min(of_one) for of_one in found)
    elements = contest.shape[0] * contest.shape[1]
    moved = 4 * elements * (contest.passes + contest.clips)
    row = f"{contest.name:<46}{ours / elements * 1e9:>8.3f}{moved / ours / bandwidth:>8.0%}"
    if theirs:
        ratio = theirs[0] / ours
        mark = "" if ratio >= contest.target else "  short"
        typical = np.median(found[1]) / np.median(found[0])
        row += f"{theirs[0] / elements * 1e9:>10.3f}{ratio:>8.2f}{typical:>9.2f}{contest.target:>8.2f}{mark}"
    print(row)


def main(seconds: float = 6.0) -> None:
    """Print the table; `seconds` for each line."""
    try:
        import torch
    except ImportError:
        torch = None
        print("torch is not installed: ours alone")
    else:
        torch.set_num_threads(THREADS)
    threads.set_num_threads(THREADS)
    optim.compile_kernels()
    bandwidth = copy_bandwidth()
    print(f"a plain copy, {THREADS} threads: {bandwidth / 1e9:.1f} GB/s; times in ns a parameter")
    print(f"{'':<46}{'ours':>8}{'of copy':>8}{'torch':>10}{'ratio':>8}{'typical':>9}{'wanted':>8}")
    for contest in CONTESTS:
        run(contest, torch, bandwidth, seconds)
    threads.set_num_threads(None)


if __name__ == "__main__":
    main()
