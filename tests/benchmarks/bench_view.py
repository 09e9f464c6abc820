"""`gradledger view` in Chromium, beside TensorBoard's own page: what must be there, and when.

Seconds from a start are those from the start of the server's process, so they have all that it imports and reads. What
does not come before a deadline is printed with the deadline. Chromium runs already, and draws without a GPU. The load
beside a figure is how many processes wanted a processor in the last minute; a machine with two should have less.
"""

from __future__ import annotations

import os
import tempfile
import time
from statistics import median, quantiles
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.figures import OURS, Figure
from benchmarks.pages import TENSORBOARD, VIEW, GaveUp, again, chromium, shown
from benchmarks.scale import sized
from summaries import SummaryWriter
from summaries.wire.pb import Event
from summaries.wire.records import frame
from summaries.wire.scalars import ScalarEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playwright.sync_api import Browser, Page

    from benchmarks.pages import Kind, Shown

DEADLINE = float(sized(120, 30))  # seconds
ROUNDS = sized(3, 1)
TAGS = sized(12_345, 1234)
RUNS, POINTS = sized(1000, 100), 100
STEPS = sized(100_000, 1000)  # of many runs, which make a billion points
LONG = sized(100_000_000, 1_000_000)  # points in one curve
OVERLAID, OF_EACH = sized(300, 50), 10_000
JUDGED, JUDGED_TAGS, JUDGED_STEPS = sized(300, 30), 50, 200
FRAMES, REFINEMENTS, FLUSHES = sized(120, 30), sized(20, 5), sized(10, 3)
NO_VERDICTS = "it has no verdicts"
NO_REFINEMENT = "it shows 1,000 points of a curve, and no others after a zoom"
READ = "document.querySelector('#tally span') && !document.querySelector('#tally .state')"
_LISTED = {
    OURS: "many => document.querySelector('.wall .note')?.textContent.includes(`of ${many}`)",
    TENSORBOARD.name: "many => document.querySelectorAll('tb-data-table-content-row').length >= "
    "Number(many.replace(/\\D/g, ''))",
}


def figures() -> Iterator[Figure]:
    """Yield those of many tags, many runs, many points, many curves, verdicts, and a run that grows."""
    with chromium() as browser, tempfile.TemporaryDirectory() as root:
        for part in (many_tags, many_runs, overlaid, verdicts, growing, long_curve, many_points):
            yield from part(browser, os.path.join(root, part.__name__))


def many_tags(browser: Browser, root: str) -> Iterator[Figure]:
    """Until the first screen of one run with many tags is drawn, and a search for a tag answers."""
    write(os.path.join(root, "run"), ["train/loss", *layers(TAGS - 1)], 10)

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, kind.charts, DEADLINE) as page:
            yield "the first chart", page.when(kind.drawn)
            yield "a search answers", page.searched("layer77/")
            later = again(page, kind.charts)
            yield "the first chart, opened again", later.when(kind.drawn)

    wanted = {"the first chart": "1 s", "a search answers": "with the first chart, 1 s"}
    yield from compared(f"{TAGS:,} tags: ", "s", look, wanted)


def many_runs(browser: Browser, root: str) -> Iterator[Figure]:
    """Until many runs are listed, and the first chart has all of them."""
    for number in range(RUNS):
        write(os.path.join(root, f"run_{number}"), ["train/loss", *layers(19)], POINTS, number)
    all_drawn = f"document.querySelector('.wall .readout')?.textContent.includes('of {RUNS:,} runs')"

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, kind.charts, DEADLINE) as page:
            yield "listed", page.when(_LISTED[kind.name], f"{RUNS:,} runs")
            choose_all(page, RUNS)
            yield "the first chart of all", page.when(all_drawn if kind is VIEW else kind.drawn)
            yield "the server's most memory, MB", page.megabytes()
            later = again(page, kind.charts)
            yield "listed, opened again", later.when(_LISTED[kind.name], f"{RUNS:,} runs")
            choose_all(later, RUNS)
            yield "the first chart of all, opened again", later.when(all_drawn if kind is VIEW else kind.drawn)

    wanted = {"listed": "2 s", "the first chart of all": "2 s"}
    wanted |= {f"{what}, opened again": "0.5 s; the index is what the server has in memory" for what in wanted}
    yield from compared(f"{RUNS:,} runs x 20 tags: ", "s", look, wanted)


def overlaid(browser: Browser, root: str) -> Iterator[Figure]:
    """Frames while one chart with many curves is zoomed at each."""
    for number in range(OVERLAID):
        write(os.path.join(root, f"run_{number}"), ["train/loss"], OF_EACH, number)

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, "" if kind is VIEW else kind.charts, DEADLINE) as page:
            if kind is VIEW:
                page.when(READ)
                page.page.evaluate("location.hash = '#/charts'")
                page.when(f"document.querySelector('.wall .readout')?.textContent.includes('of {OVERLAID:,} runs')")
            choose_all(page, OVERLAID)
            page.when(kind.drawn)
            yield "frames when nothing happens", page.frames(FRAMES, [("Event", {"type": "nothing"})])[1]
            yield "frames", page.frames(FRAMES)[1]

    what = f"{OVERLAID:,} curves of {OF_EACH:,} points (TensorBoard draws 1,000): "
    yield from compared(what, "/s", look, {"frames": "60 /s, as when nothing happens"})


def verdicts(browser: Browser, root: str) -> Iterator[Figure]:
    """Until the runs at the top of the page have their verdicts, and until all have."""
    for number in range(JUDGED):
        write(os.path.join(root, f"run_{number}"), ["train/loss", *layers(JUDGED_TAGS - 1)], JUDGED_STEPS, number)
    top = "[...document.querySelectorAll('.overview tbody tr')].slice(0, 25)"

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, "", DEADLINE) as page:
            yield (
                "the first screen's verdicts",
                page.when(f"{top}.length > 24 && !{top}.some((row) => row.textContent.includes('Reading'))"),
            )
            yield "all verdicts", page.when(READ)

    what = f"{JUDGED:,} runs x {JUDGED_TAGS} tags x {JUDGED_STEPS} steps: "
    yield from compared(what, "s", look, {"all verdicts": "10 s"}, {TENSORBOARD.name: NO_VERDICTS})


def growing(browser: Browser, root: str) -> Iterator[Figure]:
    """From the flush of a point until the page shows it; TensorBoard's page asks every 15 s, its shortest."""
    write(os.path.join(root, "run"), ["train/loss"], 1000)

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, kind.charts, DEADLINE) as page, SummaryWriter(os.path.join(root, "run")) as log:
            page.when(kind.drawn)
            for number in range(FLUSHES if kind is VIEW else sized(2, 1)):
                page.page.wait_for_timeout(1000 + 370 * number)  # at any moment between two looks of the page
                yield "from a flush until it is drawn", flushed(page, log, 2000 + len(os.listdir(root)) + number)

    yield from compared("a run that grows: ", "s", look, {"from a flush until it is drawn": "1 s"}, rounds=1)


def flushed(page: Shown, log: SummaryWriter, step: int) -> float:
    """Seconds from the flush of a point until it is drawn."""
    log.add_scalar("train/loss", step, step, 1.7e9 + step)
    if page.kind is VIEW:
        log.flush()
        began = time.perf_counter()
        page.when("value => document.querySelector('.readout b')?.textContent.replace(/\\D/g, '') === value", str(step))
        return time.perf_counter() - began
    with page.page.expect_response(
        lambda answer: "timeSeries" in answer.url and f'"step": {step}' in answer.text(), timeout=1000 * DEADLINE
    ):
        log.flush()
        began = time.perf_counter()
    return time.perf_counter() - began


def long_curve(browser: Browser, root: str) -> Iterator[Figure]:
    """Frames and refinements of zooms into one very long curve, and the memory that it takes."""
    write(os.path.join(root, "run"), ["train/loss"], LONG)

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, kind.charts, 5 * DEADLINE) as page:
            yield "the first chart (TensorBoard's has what it has read by then), s", page.when(kind.drawn)
            if kind is VIEW:
                yield "the verdict, s", page.when(READ)
            work = page.frames(FRAMES)[0]
            yield "a zoom's frame, 95th percentile, ms", quantiles(work, n=20)[-1]
            if kind is VIEW:
                taken = [refined(page.page, key) for key in ("+++---" * REFINEMENTS)[:REFINEMENTS]]
                yield "its refinement, ms", median(taken)
            yield "the server's most memory, MB", page.megabytes()

    wanted = {"a zoom's frame, 95th percentile, ms": "16 ms", "its refinement, ms": "100 ms"}
    yield from compared(
        f"{LONG:,} points: ",
        "",
        look,
        wanted,
        {"its refinement, ms": NO_REFINEMENT, "the verdict, s": NO_VERDICTS},
        rounds=1,
    )


def many_points(browser: Browser, root: str) -> Iterator[Figure]:
    """The memory that all of very many points take: those of one run, which has very many names."""
    write(os.path.join(root, "run_0"), ["train/loss", *layers(9)], STEPS)
    (name,) = os.listdir(os.path.join(root, "run_0"))
    for number in range(1, RUNS):
        os.makedirs(os.path.join(root, f"run_{number}"))
        os.link(os.path.join(root, "run_0", name), os.path.join(root, f"run_{number}", name))

    def look(kind: Kind) -> Iterator[tuple[str, float]]:
        with shown(browser, kind, root, kind.charts, 5 * DEADLINE) as page:
            choose_all(page, RUNS)
            yield "the first chart (TensorBoard's has what it has read by then), s", page.when(kind.drawn)
            if kind is VIEW:
                yield "all verdicts, s", page.when(READ)
            yield "the server's most memory, MB", page.megabytes()

    wanted = {"the server's most memory, MB": "2,000 MB for 1,000,000,000 points"}
    what = f"{RUNS:,} runs x 10 tags x {STEPS:,} steps: "
    yield from compared(what, "", look, wanted, {"all verdicts, s": NO_VERDICTS}, rounds=1)


def refined(page: Page, key: str) -> float:
    """Milliseconds from a zoom until the chart has the points that it asked for."""
    page.wait_for_timeout(600)  # until nothing else is asked for
    return float(
        page.evaluate(
            """async (key) => {
              const plot = document.querySelector('.wall figure .plot');
              const began = performance.now();
              const drawn = new Promise((done) => new MutationObserver(done).observe(plot, {childList: true}));
              plot.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
              await drawn;
              await new Promise(requestAnimationFrame);
              return performance.now() - began;
            }""",
            key,
        )
    )


def compared(
    what: str,
    unit: str,
    look: Callable[[Kind], Iterator[tuple[str, float]]],
    wanted: Mapping[str, str],
    without: Mapping[str, str] | None = None,
    rounds: int = ROUNDS,
) -> Iterator[Figure]:
    """The median of what rounds yield, by name; both take turns. Of what gives up, the deadline.

    Args:
        without: what TensorBoard does not do, and why: the name of a figure, or its own for all of them.
    """
    lasting, without = without or {}, without or {}
    taken: dict[str, dict[str, list[float]]] = {}
    notes: dict[str, list[str]] = {}
    for _ in range(rounds):
        for kind in (VIEW,) if TENSORBOARD.name in lasting else (VIEW, TENSORBOARD):
            last = "the page"
            try:
                for name, value in look(kind):
                    taken.setdefault(name, {}).setdefault(kind.name, []).append(value)
                    last = name
            except GaveUp as error:
                notes.setdefault(last, []).append(f"{kind.name} {error} after this")
        load = f"load {os.getloadavg()[0]:.1f}"
        for name in taken:
            notes.setdefault(name, []).append(load)
    for name, values in taken.items():
        middle = {kind: median(one) for kind, one in values.items()}
        ours = values.get(OURS, [])
        spread = [f"{min(ours):.3g} to {max(ours):.3g}"] if len(ours) > 1 else []
        reason = without.get(name) or without.get(TENSORBOARD.name) or "given up"
        left = {} if TENSORBOARD.name in middle else {TENSORBOARD.name: reason}
        label, _, own = name.rpartition(", ")
        its = own if own in {"s", "ms", "MB"} else unit
        said = tuple(dict.fromkeys([*spread, *notes.get(name, [])]))
        title, mine = what + (label if its == own and label else name), middle.pop(OURS)
        yield Figure(title, its, mine, middle, wanted=wanted.get(name, ""), notes=said, left_out=left)


def choose_all(page: Shown, many: int) -> None:
    """TensorBoard draws no run where there are more than forty, until somebody chooses some."""
    if page.kind is TENSORBOARD and many > 40:
        page.when(_LISTED[page.kind.name], str(many))
        page.page.locator("runs-data-table mat-checkbox input").first.click()


def layers(count: int) -> list[str]:
    """So many tags, in groups of ten."""
    return [f"layer{number // 10}/l{number}" for number in range(count)]


def write(directory: str, tags: list[str], steps: int, seed: int = 0) -> None:
    """Write a run of falling curves with noise."""
    encoder, chance = ScalarEncoder(), np.random.default_rng(seed)
    numbers = np.array([encoder.register(tag) for tag in tags])
    os.makedirs(directory)
    with open(os.path.join(directory, "events.out.tfevents.1700000000.host"), "wb") as file:
        file.write(frame(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString()))
        for start in range(0, steps * len(tags), 20_000):
            at = np.arange(start, min(start + 20_000, steps * len(tags)))
            step = at // len(tags)
            value = np.exp(-3 * step / steps) + 0.1 * chance.random(len(at))
            file.write(encoder.encode(numbers[at % len(tags)], step, 1.7e9 + step, value)[0])


if __name__ == "__main__":
    for one in figures():
        print("\n".join(one.lines()), flush=True)
