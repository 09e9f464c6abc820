"""`gradledger top` in a terminal of its own: keys, sizes, runs that grow, hostile names, and terminals that go away."""

import os
import signal
import sys
import time

import pytest
from browser.plugin_runs import log_run
from processes.terminals import terminal

from summaries import SummaryWriter
from summaries.cli import main

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
NAME = "\x1b[2J\x1b]0;title\x07\u202e[bold]"
RUN = os.fsdecode(NAME.encode())  # as a system without UTF-8 reads it


@pytest.fixture
def runs(tmp_path):
    log_run(tmp_path / "good")
    log_run(tmp_path / "bad", diverges=True)
    return str(tmp_path)


def test_a_session(runs):
    with terminal(["top", runs]) as shown:
        shown.shows("2 runs by name", "▶  bad", "train/loss", "GL304", "Gradient norm")
        shown.type("\x1b[B")
        shown.shows("▶  good", without=["GL304"])
        shown.type("\x1b[C")
        shown.shows("gradients/global_norm  ")
        shown.type("\tl")
        shown.shows("Update ratio", "logarithmic")
        with SummaryWriter(os.path.join(runs, "good")) as writer:
            writer.add_scalar("gradients/global_norm", 555.0, 1234)
        shown.shows("1,234", "gradients/global_norm  555")
        shown.resize(40, 12)
        assert "Update ratio" not in shown.shows("▶  good", without=["Update ratio"])
        shown.type("q")
        assert shown.ended() == 0
        assert shown.seen.endswith("\x1b[?25h\x1b[?1049l"), "the cursor, and the screen as it was"


def test_a_run_that_comes(tmp_path):
    with terminal(["top", str(tmp_path)]) as shown:
        shown.shows("waiting for runs")
        log_run(tmp_path / "late", steps=20)
        shown.shows("▶  late")
        shown.process.send_signal(signal.SIGINT)
        assert shown.ended() == 0
        assert shown.seen.endswith("\x1b[?25h\x1b[?1049l")


def test_hostile_names_are_obeyed_by_no_terminal(tmp_path):
    with SummaryWriter(tmp_path / RUN) as writer:
        for step in range(300):
            writer.add_scalar(NAME, 1.0 if step < 200 else 1e30, step)
    with terminal(["top", str(tmp_path)], 160) as shown:
        shown.shows("▶  \\x1b[2J\\x1b]0;title\\x07\\u", "[bold]", "1e+30")
        shown.type("q")
        assert shown.ended() == 0


@pytest.mark.parametrize("ignored", [False, True])
def test_a_terminal_that_goes_away_ends_it(runs, ignored, tmp_path):
    def before():  # what started the tests may ignore it, as nohup does
        signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)

    with terminal(["top", runs], before=before) as shown:
        shown.shows("▶  bad")
        os.close(shown.master)
        deadline = time.monotonic() + 60
        while shown.process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        assert shown.process.poll() == (2 if ignored else -signal.SIGHUP)


def test_a_place_that_does_not_exist(tmp_path):
    with terminal(["top", str(tmp_path / "missing")], 200) as shown:
        assert shown.ended() == 2
        assert "gradledger: no such file or directory" in shown.text


def test_without_a_terminal(runs, capsys):
    assert main(["top", runs]) == 2
    assert capsys.readouterr().err == (
        "gradledger: standard output must be a terminal: `gradledger ls` and `tail` print lines\n"
    )
