"""gradledger view: the link, and what is said of wrong places."""

import signal
import subprocess
import sys
import urllib.request

from browser.plugin_runs import log_run
from processes.servers import running

from summaries import SummaryWriter
from summaries.cli import main


def test_it_serves_until_interrupted(tmp_path):
    log_run(tmp_path / "runs" / "a", steps=20)
    command = [sys.executable, "-m", "summaries", "view", "--no-browser", str(tmp_path / "runs")]
    log = tmp_path / "log"
    with running(command, log, end=lambda process: process.send_signal(signal.SIGINT)) as (process, _):
        link = log.read_text().split()[0]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"alone.js" in opener.open(link).read()
    assert process.returncode == 0
    assert log.read_text() == f"{link}\nCtrl-C ends it.\n"


def test_a_place_that_does_not_exist(tmp_path, capsys):
    assert main(["view", "--no-browser", str(tmp_path / "missing")]) == 2
    assert "missing" in capsys.readouterr().err


def test_without_werkzeug(tmp_path):
    program = "import sys; sys.modules['werkzeug'] = None; from summaries.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "view", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "gradledger: this needs werkzeug: pip install 'gradledger[view]'",
    )


def test_a_file_instead_of_a_server(tmp_path, capsys):
    with SummaryWriter(tmp_path / "runs" / "a") as writer:
        writer.add_scalar("loss", 1.0, 0)
    target = tmp_path / "new" / "page.html"
    target.parent.mkdir()
    assert main(["view", str(tmp_path / "runs"), "--output", str(target), "--tags", "lo*"]) == 0
    assert target.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert capsys.readouterr().out == ""
    assert main(["view", str(tmp_path / "runs"), "--output", str(target), "--tags", "acc"]) == 2
    assert "no tag matches 'acc'" in capsys.readouterr().err


def test_what_chooses_is_for_a_file(tmp_path, capsys):
    assert main(["view", str(tmp_path), "--tags", "loss"]) == 2
    assert capsys.readouterr().err == (
        "gradledger: --runs, --tags, --points and --media choose what is in a file: add --output FILE\n"
    )
