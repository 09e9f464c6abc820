"""Optimizers against torch's, in one run: global-norm clipping and the update, on float32, two threads.

Each has its turns in a process of its own; the shortest step counts, and "typical" is the ratio of the medians. The
placement of arrays in memory can make a step, ours or the peer's, a quarter slower for as long as they stay there, so
both start afresh a few times per figure. The share of a copy's bandwidth is the bytes that a step must move (the
gradient once more if it is clipped) over its time, relative to copying one large array with as many threads.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import optim
from benchmarks.figures import OURS, Figure
from benchmarks.peers import Contender, Outcome, take_turns
from benchmarks.scale import sized
from optim.kernels import threads
from summaries.execution.sharing import share
from summaries.native import library

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Pairs = list[tuple[np.ndarray[Any, Any], optim.Variable]]

THREADS = 2
CLIP_NORM = 1.0
LARGE = (50, sized(400_000, 40_000))  # arrays, elements of each
SMALL = (50, 4_000)
PAUSE_SECS = sized(300, 100) / 1000  # torch's threads keep spinning for a while, and would slow down the next contender
BEGINNINGS = sized(4, 1)


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
    Contest("clip + Adam; torch fused", optim.AdamOptimizer, adam, 7, target=1.5, shape=SMALL),
    Contest("clip + Adam, full report", optim.AdamOptimizer, adam, 7, report=True, target=1.0, shape=SMALL),
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


def figures() -> Iterator[Figure]:
    """Yield one for each contest."""
    copied = take_turns({OURS: Contender(copying)}, 1.0).least()[OURS]
    for number, contest in enumerate(CONTESTS):
        contenders = {OURS: Contender(our_step, (number,)), "torch": Contender(their_step, (number,), "torch")}
        yield of(contest, begun_afresh(contenders, 3.0), 2 * 4 * LARGE[0] * LARGE[1] / copied)


def begun_afresh(contenders: dict[str, Contender], seconds: float) -> Outcome:
    """What contenders of several threads take, begun afresh a few times."""
    found = [take_turns(contenders, seconds / BEGINNINGS, PAUSE_SECS) for _ in range(BEGINNINGS)]
    names = [name for name in contenders if name not in found[0].left_out]
    return Outcome({name: [took for one in found for took in one.rounds[name]] for name in names}, found[0].left_out)


def of(contest: Contest, outcome: Outcome, bandwidth: float) -> Figure:
    """A contest's figure; bandwidth in bytes a second."""
    arrays, size = contest.shape
    least, typical = outcome.least(), outcome.typical()
    moved = 4 * arrays * size * (contest.passes + contest.clips)
    notes = [f"{moved / least[OURS] / bandwidth:.0%} of a copy's bandwidth"]
    notes += [f"typical {typical['torch'] / typical[OURS]:.2f}"] if "torch" in typical else []
    return Figure(
        f"{contest.name}, {arrays} x {size:,}",
        "ns a parameter",
        least[OURS] / (arrays * size) * 1e9,
        {name: took / (arrays * size) * 1e9 for name, took in least.items() if name != OURS},
        wanted=f"{contest.target} x torch",
        notes=tuple(notes),
        left_out=outcome.left_out,
    )


def arrays_of(shape: tuple[int, int]) -> list[tuple[Any, Any]]:
    """(weights, gradient) of each array."""
    rng = np.random.default_rng(0)
    count, size = shape
    return [(rng.standard_normal(size, np.float32), 0.01 * rng.standard_normal(size, np.float32)) for _ in range(count)]


def our_step(number: int) -> Callable[[], object]:
    contest = CONTESTS[number]
    library.use(contest.kernels if library.is_available() or contest.kernels == "plain" else None)
    threads.set_num_threads(THREADS)
    pairs: Pairs = [(g, optim.Variable(w, name=f"w{i}")) for i, (w, g) in enumerate(arrays_of(contest.shape))]
    optimizer = contest.ours()
    if contest.clips:
        optimizer = optim.clip_gradients_by_norm(optimizer, CLIP_NORM)
    return functools.partial(optimizer.apply_gradients, pairs, report=contest.report)


def their_step(number: int) -> Callable[[], object]:
    import torch

    torch.set_num_threads(THREADS)
    contest = CONTESTS[number]
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


def copying() -> Callable[[], object]:
    """A copy of a large array on all threads."""
    elements = LARGE[0] * LARGE[1]
    source, target = np.ones(elements, np.float32), np.empty(elements, np.float32)
    bounds = [(part[0], part[-1] + 1) for part in np.array_split(np.arange(elements), 64)]

    def work(bound: tuple[int, int]) -> None:
        first, last = bound
        np.copyto(target[first:last], source[first:last])

    return lambda: share(work, bounds, THREADS)
