"""gradledger view: the link, and what is said of wrong places."""

import signal
import subprocess
import sys
import urllib.request

from browser.plugin_runs import log_run
from processes.servers import running

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
