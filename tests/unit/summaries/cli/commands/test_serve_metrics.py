"""gradledger serve-metrics: the address, and what is said of wrong places and options."""

import signal
import subprocess
import sys
import urllib.request

from browser.plugin_runs import log_run, soon
from processes.servers import running

from summaries.cli import main


def test_it_serves_until_interrupted(tmp_path):
    log_run(tmp_path / "runs" / "a", steps=20)
    command = [sys.executable, "-m", "summaries", "serve-metrics", str(tmp_path / "runs"), "--tags", "*loss"]
    log = tmp_path / "log"
    with running(command, log, end=lambda process: process.send_signal(signal.SIGINT)) as (process, address):

        def said():
            with urllib.request.urlopen(f"{address}/metrics") as answer:  # noqa: S310 - its own address
                return answer.read().decode()

        assert soon(lambda: 'gradledger_verdict{run="a"} ' in said())
        assert said().count("gradledger_last_value{") == 1
    assert process.returncode == 0
    assert log.read_text() == f"{address}/metrics\nCtrl-C ends it.\n"


def test_a_place_that_does_not_exist(tmp_path, capsys):
    assert main(["serve-metrics", str(tmp_path / "missing")]) == 2
    assert "missing" in capsys.readouterr().err


def test_a_host_that_is_not_this_machine(tmp_path, capsys):
    assert main(["serve-metrics", str(tmp_path), "--host", "192.0.2.1"]) == 2
    assert capsys.readouterr().err.startswith("gradledger: ")


def test_it_needs_no_library(tmp_path):
    program = (
        "import sys; sys.modules['werkzeug'] = sys.modules['prometheus_client'] = None;"
        "from summaries.integrations.metrics import MetricsServer; print(MetricsServer(sys.argv[1:]).address)"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("http://127.0.0.1:")
