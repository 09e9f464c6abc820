"""Pages of `gradledger view` and of TensorBoard in headless Chromium, each server a process of its own."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from browser.dashboard import chromium_path, launch
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import sync_playwright
from processes.servers import running

from benchmarks.peers import NotInstalledError

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

LOOKS = {"viewport": {"width": 1400, "height": 1000}, "bypass_csp": True}  # else nothing can be evaluated there
# TensorBoard's page lists no other runs than at first, unless it reloads by itself: here, as often as it can.
_RELOADING = "localStorage.setItem('_tb_global_settings', '{\"autoReload\":true,\"autoReloadPeriodInMs\":15000}')"
_ADDRESS = re.compile(r"http://\S+")
# A frame's work on the main thread is over when a message is delivered that was posted at the frame's beginning.
_FRAMES = """async ({selector, acts, frames}) => {
  const [target, channel] = [document.querySelector(selector), new MessageChannel()];
  const {x, y, width, height} = target.getBoundingClientRect();
  const always = {bubbles: true, cancelable: true, clientX: x + width / 2, clientY: y + height / 2};
  const taken = [];
  const start = performance.now();
  for (let k = 0; k < frames && performance.now() - start < 10_000; k++) {
    await new Promise(requestAnimationFrame);
    const began = performance.now();
    const done = new Promise((resolve) => (channel.port1.onmessage = resolve));
    const [kind, options] = acts[k % acts.length];
    target.dispatchEvent(new globalThis[kind](options.type, {...always, ...options}));
    channel.port2.postMessage(0);
    await done;
    taken.push(performance.now() - began);
  }
  return [taken, (1000 * taken.length) / (performance.now() - start)];
}"""


class GaveUp(RuntimeError):  # noqa: N818 - it is no error of the program
    """What was waited for did not come; the text says for how long."""


class Kind(NamedTuple):
    """How a page is served, and what is looked at on it.

    Attributes:
        name: of the program.
        command: what serves it, before the directory of the runs.
        charts: the address of its charts, behind the server's.
        drawn: a condition in JavaScript: the first chart has its curves.
        search: the field of a search for tags.
        titles: what shows the tags that are found.
        plot: the element of the first chart that is zoomed.
        zooms: events that zoom it in, then out again: the class of each in JavaScript, and its options.
    """

    name: str
    command: list[str]
    charts: str
    drawn: str
    search: str
    titles: str
    plot: str
    zooms: list[tuple[str, dict[str, Any]]]


VIEW = Kind(
    "gradledger",
    [sys.executable, "-m", "gradledger", "view", "--no-browser"],
    "#/charts",
    "document.querySelector('.wall .uplot canvas') && document.querySelector('.wall .readout b')",
    "input[aria-label='Tags that match']",
    ".wall h3",
    ".wall figure .plot",
    [("KeyboardEvent", {"type": "keydown", "key": key}) for key in "+++---"],
)
# Without TensorFlow, as for all that is compared here: it takes seconds more to start with it, and does the same.
_WITHOUT = "import sys; sys.modules['tensorflow'] = None; from tensorboard.main import run_main; run_main()"
TENSORBOARD = Kind(
    "TensorBoard",
    [sys.executable, "-c", _WITHOUT, "--host", "127.0.0.1", "--port", "0", "--reload_interval", "1", "--logdir"],
    "#timeseries",
    "document.querySelector('scalar-card line-chart') && !document.querySelector('scalar-card mat-spinner') && "
    "performance.getEntriesByType('resource').some((one) => one.name.includes('timeSeries') && one.responseEnd)",
    "input[placeholder='Filter tags (regex)']",
    "scalar-card tb-truncated-path",
    "scalar-card line-chart-interactive-view svg",
    [("WheelEvent", {"type": "wheel", "altKey": True, "deltaY": delta})
     for delta in (-100, -100, -100, 100, 100, 100)],
)  # fmt: skip


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    """Chromium, started, so that no page has to wait for that.

    Raises:
        NotInstalledError: it is not installed.
    """
    if chromium_path() is None:
        raise NotInstalledError("chromium is not installed")
    with sync_playwright() as playwright:
        browser = launch(playwright.chromium)
        browser.new_page().close()
        yield browser
        browser.close()


@dataclass
class Shown:
    """A page that was opened as soon as its server listened.

    Attributes:
        page: the page.
        kind: what it is.
        process: the server.
        address: of the server, with what it wants to see of whoever asks.
        began: when the server was started.
        listened: how many seconds later it listened.
    """

    page: Page
    kind: Kind
    process: subprocess.Popen[bytes]
    address: str
    began: float
    listened: float

    def when(self, condition: str, argument: Any = None) -> float:
        """Wait for a condition in JavaScript; how many seconds after the start of the server it held."""
        self.page.wait_for_function(condition, arg=argument, polling="raf")
        return time.perf_counter() - self.began

    def searched(self, text: str) -> float:
        """Search for tags with this text; how many seconds later the first chart is of such a tag."""
        self.page.locator(self.kind.search).wait_for()
        began = time.perf_counter()
        self.page.locator(self.kind.search).fill(text)
        self.when(
            "([titles, text]) => document.querySelector(titles)?.textContent.includes(text)", [self.kind.titles, text]
        )
        return time.perf_counter() - began

    def frames(self, count: int, acts: list[tuple[str, dict[str, Any]]] | None = None) -> tuple[list[float], float]:
        """Zoom the first chart at each frame, or let these events happen to it, for ten seconds at most.

        Returns:
            The milliseconds of work in each, and how many there were in a second.
        """
        wanted = {"selector": self.kind.plot, "acts": acts or self.kind.zooms, "frames": count}
        taken, rate = self.page.evaluate(_FRAMES, wanted)
        return taken, rate

    def megabytes(self) -> float:
        """The most memory that the server's processes had so far, in MB."""
        return sum(_most_kilobytes(pid) for pid in _with_children(self.process.pid)) * 1024 / 1e6


@contextlib.contextmanager
def shown(browser: Browser, kind: Kind, logdir: str, at: str, deadline: float) -> Iterator[Shown]:
    """A page of these runs, which is opened at this address behind the server's.

    Raises:
        GaveUp: what was waited for did not come in so many seconds.
    """
    with tempfile.TemporaryDirectory() as directory:
        log = os.path.join(directory, "log")
        began = time.perf_counter()
        with running([*kind.command, logdir], log) as (process, _):
            listened = time.perf_counter() - began
            with open(log, encoding="utf-8") as said:
                address = _ADDRESS.findall(said.read())[0]
            context = browser.new_context(**LOOKS)
            context.add_init_script(_RELOADING)
            context.set_default_timeout(1000 * deadline)
            try:
                yield Shown(_at(context.new_page(), address + at), kind, process, address, began, listened)
            except PlaywrightTimeout as error:
                raise GaveUp(f"given up after {deadline:g} s") from error
            finally:
                context.close()


def _at(page: Page, address: str) -> Page:
    page.goto(address, wait_until="commit")
    return page


def again(one: Shown, at: str) -> Shown:
    """The same in a new page, whose seconds begin now: the server has read everything."""
    began = time.perf_counter()
    page = _at(one.page.context.new_page(), one.address + at)
    return Shown(page, one.kind, one.process, one.address, began, 0.0)


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        for child in file.read().split():
            yield from _with_children(int(child))


def _most_kilobytes(pid: int) -> int:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return 0
