"""Servers as processes of their own. Each is started with port 0, takes a port that is free, and says on its log which.

A port that a test had found free, another program could take before the server does.
"""

import re
import subprocess
import time
from contextlib import contextmanager

ADDRESS = re.compile(rb"http://127\.0\.0\.1:[1-9]\d*")
TIMEOUT = 180  # seconds; a busy machine needs ten to start one


@contextmanager
def running(command, log, end=subprocess.Popen.terminate, **options):
    """The process of a server, and its address on this machine, once it says on its log that it listens there.

    Args:
        command: the program and its arguments.
        log: the path of a file for what it says.
        end: how it is told to end.
        **options: as `subprocess.Popen` takes them.
    """
    with open(log, "wb") as said:  # a file, and not a pipe, which somebody would have to read
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, **options)
    try:
        yield process, _address(process, log)
    finally:
        end(process)
        try:
            process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _address(process, log):
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline and process.poll() is None:
        with open(log, "rb") as file:
            said = file.read()
        if found := ADDRESS.search(said):
            return found[0].decode()
        time.sleep(0.05)
    with open(log, "rb") as file:
        raise AssertionError(f"{process.args[0]} does not listen: {file.read().decode(errors='replace')}")
