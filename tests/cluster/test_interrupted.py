"""Ctrl-C while a cluster works: what is known is printed, what is queued is not begun, and nothing is left behind."""

import re
import subprocess
import sys

import psutil

PROGRAM = """
import os, signal, sys
from contextlib import contextmanager
from summaries.cli import main
from summaries.cli.views import auditing

@contextmanager
def progress_bar(total):
    def on_run(name, report):
        if not told:
            told.append(name)
            os.killpg(0, signal.SIGINT)   # as a terminal sends it: to the workers too
    told = []
    yield on_run

auditing.progress_bar = progress_bar
if __name__ == "__main__":
    sys.exit(main(["audit", sys.argv[1], "--dask", "local", "--all"]))
"""


def test_what_is_known_is_printed(small_logdir, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen(
        [sys.executable, program, small_logdir],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as started:
        out, err = started.communicate(timeout=600)
    audited = re.fullmatch(r"gradledger: interrupted: (\d+) of 5000 runs audited\n", err)
    assert audited, err
    assert 0 < int(audited[1]) < 5_000
    assert out.splitlines()[-1].startswith(f"{audited[1]} run")
    assert started.returncode == 130
    assert [
        process for process in psutil.process_iter(["cmdline"]) if str(program) in (process.info["cmdline"] or [])
    ] == []
